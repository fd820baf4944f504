//! A qlog file for each connection of a server: quinn 0.11 takes one for each transport configuration.

use std::fs::{self, File};
use std::io::LineWriter;
use std::path::PathBuf;
use std::sync::Arc;

use quinn::congestion::ControllerFactory;
use quinn::{QlogConfig, ServerConfig, TransportConfig};

use super::Result;
use super::controller::Choice;

/// Where the files go, and what the connections have in common.
pub(crate) struct Qlog {
    folder: PathBuf,
    config: ServerConfig,
    /// One for all connections: their controllers draw different random numbers.
    controllers: Arc<dyn ControllerFactory + Send + Sync>,
    connections: u64,
}

impl Qlog {
    /// Files in `folder`, which is made, for connections of a server with this configuration.
    pub(crate) fn new(folder: PathBuf, config: ServerConfig, controller: Choice) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self {
            folder,
            config,
            controllers: controller.factory(),
            connections: 0,
        })
    }

    /// The configuration of the next connection, which writes `server-N.sqlog`.
    pub(crate) fn next(&mut self) -> Result<Arc<ServerConfig>> {
        self.connections += 1;
        let path = self
            .folder
            .join(format!("server-{}.sqlog", self.connections));
        let mut qlog = QlogConfig::default();
        let title = format!("server-{}", self.connections);
        qlog.title(Some(title));
        // An event is a line: what has happened can be read while the connection lives.
        qlog.writer(Box::new(LineWriter::new(File::create(path)?)));
        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(Arc::clone(&self.controllers));
        transport.qlog_stream(qlog.into_stream());
        let mut config = self.config.clone();
        config.transport_config(Arc::new(transport));
        Ok(Arc::new(config))
    }
}
