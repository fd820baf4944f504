//! Which link leads where.

use std::collections::VecDeque;

/// For every node and every destination, the link to take: along the fewest links, and among those the first added.
#[derive(Debug)]
pub(super) struct Routes {
    nodes: usize,
    next: Vec<Option<usize>>,
}

impl Routes {
    /// Finds all routes over these links, each from a node to a node.
    pub(super) fn new(nodes: usize, ends: &[(usize, usize)]) -> Self {
        let mut into = vec![Vec::new(); nodes];
        for (link, &(_, to)) in ends.iter().enumerate() {
            into[to].push(link);
        }
        let mut next = vec![None; nodes * nodes];
        for destination in 0..nodes {
            let mut reached = VecDeque::from([destination]);
            while let Some(node) = reached.pop_front() {
                for &link in &into[node] {
                    let from = ends[link].0;
                    let entry = &mut next[from * nodes + destination];
                    if from != destination && entry.is_none() {
                        *entry = Some(link);
                        reached.push_back(from);
                    }
                }
            }
        }
        Self { nodes, next }
    }

    /// The link to take at a node towards another one.
    #[inline]
    pub(super) fn next(&self, at: usize, destination: usize) -> Option<usize> {
        self.next[at * self.nodes + destination]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_short() {
        // 0 - 1 - 2 - 3 one way, a shortcut from 0 to 2, and a node without links.
        let routes = Routes::new(5, &[(0, 1), (1, 2), (2, 3), (0, 2), (0, 2)]);
        assert_eq!(routes.next(0, 1), Some(0));
        assert_eq!(routes.next(0, 2), Some(3));
        assert_eq!(routes.next(0, 3), Some(3));
        assert_eq!(routes.next(1, 3), Some(1));
        for (from, to) in [(3, 0), (0, 4), (4, 0), (1, 1)] {
            assert_eq!(routes.next(from, to), None);
        }
    }
}
