//! The file server of `server.rs`, whose settings come from a TOML file:
//!
//! ```text
//! cargo run --release --example server_from_toml -- examples/server.toml
//! cargo run --release --example client -- --server 127.0.0.1:4434 /20000000
//! ```
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "that is what it is for"
)]

#[allow(dead_code, reason = "the rest is the other examples'")]
mod net;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use kneepoint::controllers::KneeConfig;
use kneepoint::quinn::IntoFactory as _;
use kneepoint::{Algorithm, ControllerSpec};
use quinn::{Endpoint, TransportConfig};
use serde::Deserialize;

/// What the file holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Where to listen.
    listen: SocketAddr,
    /// After how many seconds of silence a connection ends.
    max_idle_timeout_s: u64,
    /// A controller by name, preset and values.
    controller: Option<ControllerSpec>,
    /// The default controller by a table of values.
    knee: Option<KneeConfig>,
}

impl Settings {
    /// Of both ways to say what the controller is, one at most; the default if there is none.
    fn controller(&self) -> net::Result<ControllerSpec> {
        match (&self.controller, &self.knee) {
            (Some(_), Some(_)) => Err("controller and [knee] exclude each other".into()),
            (Some(spec), None) => Ok(spec.clone()),
            (None, Some(config)) => Ok(ControllerSpec::try_from(*config)?),
            (None, None) => Ok(Algorithm::default().into()),
        }
    }

    fn transport(&self) -> net::Result<TransportConfig> {
        let mut transport = TransportConfig::default();
        let silence = Duration::from_secs(self.max_idle_timeout_s);
        transport
            .max_idle_timeout(Some(silence.try_into()?))
            .congestion_controller_factory(self.controller()?.factory());
        Ok(transport)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Readable: `main` would print it by `Debug`.
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> net::Result<()> {
    let path = std::env::args().nth(1);
    let path = path.unwrap_or_else(|| "examples/server.toml".to_owned());
    let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let settings: Settings = toml::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    let certificate = Path::new("target/kneepoint/server.pem");
    let mut config = net::tls::server_config(certificate, "knee".parse()?)?;
    config.transport_config(Arc::new(settings.transport()?));
    let endpoint = Endpoint::server(config, settings.listen)?;
    let controller = settings.controller()?;
    println!("listening on {} with {controller}", endpoint.local_addr()?);
    net::serve::serve(endpoint, "traces".into(), None, |line| println!("{line}")).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMED: &str = include_str!("server.toml");

    fn controller(text: &str) -> Result<String, String> {
        let settings: Settings = toml::from_str(text).map_err(|error| error.to_string())?;
        settings.transport().map_err(|error| error.to_string())?;
        let controller = settings.controller().map_err(|error| error.to_string())?;
        Ok(controller.to_string())
    }

    #[test]
    fn a_controller_is_a_name_or_a_table() {
        assert_eq!(controller(NAMED).unwrap(), "knee:target_growth=0.25");
        let table =
            "listen = \"[::]:4433\"\nmax_idle_timeout_s = 5\n[knee]\ntarget_growth = 0.25\n";
        assert_eq!(controller(table).unwrap(), "knee:target_growth=0.25");
        let none = "listen = \"[::]:4433\"\nmax_idle_timeout_s = 5\n";
        assert_eq!(controller(none).unwrap(), "knee");
    }

    #[test]
    fn what_is_unknown_is_refused_by_name() {
        for (bad, named) in [
            ("controller = \"tahoe\"", "tahoe"),
            ("controller = \"knee:target_grow=1\"", "target_grow"),
            ("[knee]\ntarget_grow = 1", "target_grow"),
            ("[knee]\ntarget_growth = -1", "target_growth"),
            ("controler = \"knee\"", "controler"),
            ("controller = \"knee\"\n[knee]", "exclude"),
        ] {
            let text = format!("listen = \"[::]:4433\"\nmax_idle_timeout_s = 5\n{bad}\n");
            let error = controller(&text).unwrap_err();
            assert!(error.contains(named), "{error}");
        }
    }
}
