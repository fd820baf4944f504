//! `?` in a test prints an error by `Debug`.

/// Implements `Debug` for an error so that it prints the sentence of its `Display`.
macro_rules! debug_as_display {
    ($error:ty) => {
        impl core::fmt::Debug for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(self, f)
            }
        }
    };
}
