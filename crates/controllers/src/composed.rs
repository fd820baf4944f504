//! What the controllers share that are a BBR core on a bandwidth filter: with it, a file holds nothing but values.

/// Declares the configuration of such a controller, its registration and its construction. It remains to write the
/// functions that make the presets; the first preset listed is what the bare name stands for.
macro_rules! composed {
    (
        $(#[$attribute:meta])*
        $config:ident = $controller:ident($core:ty, $filter:ty),
        name: $name:literal,
        description: $description:literal,
        source: $source:literal,
        presets: [$($preset:ident => $make:ident),+],
        default: $default:ident,
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct $config {
            /// The state machine.
            pub core: $core,
            /// The bandwidth filter.
            pub filter: $filter,
        }

        $crate::text::fields!($config { core, filter });

        impl Default for $config {
            fn default() -> Self {
                Self::$default()
            }
        }

        impl $crate::registry::Registered for $config {
            const NAME: &'static str = $name;
            const DESCRIPTION: &'static str = $description;
            const SOURCE: &'static str = $source;
            const PRESETS: &'static [$crate::Preset] = &[$($crate::Preset::$preset),+];

            fn preset(preset: $crate::Preset) -> Self {
                match preset {
                    $($crate::Preset::$preset => Self::$make(),)+
                    _ => Self::$default(),
                }
            }
        }

        impl $crate::ControllerConfig for $config {
            fn validate(&self) -> Result<(), $crate::ConfigError> {
                self.core.validate()?;
                $crate::filter::FilterConfig::build(&self.filter).map(drop)
            }

            fn build(
                &self,
                environment: &$crate::Environment,
            ) -> Result<Box<dyn $crate::Controller>, $crate::ConfigError> {
                self.core.validate()?;
                let filter = $crate::filter::FilterConfig::build(&self.filter)?;
                let name = <Self as $crate::registry::Registered>::NAME;
                let mut environment = *environment;
                // A filter that is biased low follows itself down if it is paced at its estimate.
                environment.transport.paces &= !$crate::filter::FilterConfig::biased_low(&self.filter);
                Ok(Box::new($controller::new(name, self.core, filter, &environment)))
            }
        }
    };
}

pub(crate) use composed;
