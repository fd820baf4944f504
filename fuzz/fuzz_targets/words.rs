//! A fuzzer's bytes as words.

/// Eight bytes each; what is left over is dropped.
pub fn words(data: &[u8]) -> Vec<u64> {
    let (words, _) = data.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}
