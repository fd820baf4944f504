//! The models of hosts, by where the hosts are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::host::HostConfig;

/// The models of all hosts. Ideal hosts have none.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(super) struct HostModels {
    all: Option<Arc<HostConfig>>,
    nodes: BTreeMap<usize, Option<Arc<HostConfig>>>,
}

impl HostModels {
    pub(super) fn set_all(&mut self, config: HostConfig) {
        self.all = model(config);
    }

    pub(super) fn set_node(&mut self, node: usize, config: HostConfig) {
        self.nodes.insert(node, model(config));
    }

    /// Whether all hosts are ideal for want of any other word.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_none() && self.nodes.is_empty()
    }

    /// The model of the hosts at a node.
    #[cfg(feature = "quinn")]
    pub(super) fn of(&self, node: Option<usize>) -> Option<Arc<HostConfig>> {
        let own = node.and_then(|node| self.nodes.get(&node));
        own.unwrap_or(&self.all).clone()
    }
}

fn model(config: HostConfig) -> Option<Arc<HostConfig>> {
    (!config.is_ideal()).then(|| Arc::new(config))
}
