//! The costs of work: least squares over processor times and counts.

use std::time::Duration;

use super::counts::Counts;

/// One thread's work: what it did, and the processor time that this took.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    pub(crate) counts: Counts,
    pub(crate) processor: Duration,
}

/// Processor time in nanoseconds of each kind of work; none is negative.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Costs {
    pub(crate) receive: Cost,
    pub(crate) send: Cost,
    /// By how much, relatively, these costs miss the measured times: the root of the mean square.
    pub(crate) error: f64,
}

/// The work of the same kind whose datagrams took the median time; `None` of none.
pub(crate) fn median(mut same: Vec<Work>) -> Option<Work> {
    same.sort_by(|a, b| a.per_datagram().total_cmp(&b.per_datagram()));
    let middle = same.len() / 2;
    (middle < same.len()).then(|| same.swap_remove(middle))
}

impl Work {
    /// Nanoseconds of processor time per datagram received or sent.
    fn per_datagram(&self) -> f64 {
        let datagrams = self.counts.reads.datagrams() + self.counts.bursts.datagrams();
        self.processor.as_nanos() as f64 / datagrams.max(1) as f64
    }
}

/// Of one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Cost {
    /// To begin a batch of received datagrams, or to hand a burst to the network.
    pub(crate) batch: f64,
    /// To receive a datagram, or to make and send one.
    pub(crate) datagram: f64,
    /// The cost per byte of UDP payload.
    pub(crate) byte: f64,
}

impl Cost {
    pub(crate) const fn new(batch: f64, datagram: f64, byte: f64) -> Self {
        Self {
            batch,
            datagram,
            byte,
        }
    }
}

/// The costs that explain all this work best: those with the least sum of squared relative errors. `None` of less work than
/// there are kinds of it.
pub(crate) fn fit(work: &[Work]) -> Option<Costs> {
    let rows: Vec<[f64; KINDS]> = work
        .iter()
        .filter(|work| !work.processor.is_zero())
        .map(|work| {
            let time = work.processor.as_nanos() as f64;
            kinds(&work.counts).map(|count| count / time)
        })
        .collect();
    if rows.len() < KINDS {
        return None;
    }
    let costs = non_negative_least_squares(&rows);
    let squares = rows
        .iter()
        .map(|row| (predicted(row, &costs) - 1.0).powi(2));
    let error = (squares.sum::<f64>() / rows.len() as f64).sqrt();
    let [wakeup, received, read, burst, sent, written] = costs;
    Some(Costs {
        receive: Cost::new(wakeup, received, read),
        send: Cost::new(burst, sent, written),
        error,
    })
}

fn kinds(counts: &Counts) -> [f64; KINDS] {
    [
        counts.batches.times(),
        counts.reads.datagrams(),
        counts.received_bytes,
        counts.bursts.times(),
        counts.bursts.datagrams(),
        counts.sent_bytes,
    ]
    .map(|count| count as f64)
}

fn predicted(row: &[f64; KINDS], costs: &[f64; KINDS]) -> f64 {
    row.iter()
        .zip(costs)
        .map(|(count, cost)| count * cost)
        .sum()
}

/// The non-negative `x` with the least sum of squares of `rows * x - 1`, by coordinate descent: the sum is convex, so each
/// coordinate in turn goes to its least until nothing changes any more.
fn non_negative_least_squares(rows: &[[f64; KINDS]]) -> [f64; KINDS] {
    // The normal equations: gram * x = target.
    let mut gram = [[0.0; KINDS]; KINDS];
    let mut target = [0.0; KINDS];
    for row in rows {
        for (j, value) in row.iter().enumerate() {
            target[j] += value;
            for (k, other) in row.iter().enumerate() {
                gram[j][k] += value * other;
            }
        }
    }
    let mut x = [0.0_f64; KINDS];
    for _ in 0..SWEEPS {
        for j in 0..KINDS {
            if gram[j][j] > 0.0 {
                let others = predicted(&gram[j], &x) - gram[j][j] * x[j];
                x[j] = ((target[j] - others) / gram[j][j]).max(0.0);
            }
        }
    }
    x
}

/// Kinds of work.
const KINDS: usize = 6;

/// Enough for columns that are nearly parallel; each takes less than a microsecond.
const SWEEPS: usize = 100_000;

#[cfg(test)]
mod tests {
    use super::super::counts::Sizes;
    use super::*;

    /// Work of so many batches, bursts, and datagrams in each, all of one size.
    fn work(received: (usize, usize), sent: (usize, usize), size: u64, costs: &Costs) -> Work {
        let sizes = |(times, each)| {
            let mut sizes = Sizes::default();
            (0..times).for_each(|_| sizes.add(each));
            sizes
        };
        let mut counts = Counts::default();
        counts.batches = sizes(received);
        counts.reads = sizes(received);
        counts.received_bytes = (received.0 * received.1) as u64 * size;
        counts.bursts = sizes(sent);
        counts.sent_bytes = (sent.0 * sent.1) as u64 * size;
        let Costs { receive, send, .. } = costs;
        let [receive, send] = [receive, send].map(|cost| [cost.batch, cost.datagram, cost.byte]);
        let [wakeup, received, read] = receive;
        let [burst, sent, written] = send;
        let costs = [wakeup, received, read, burst, sent, written];
        let time = predicted(&kinds(&counts), &costs);
        Work {
            counts,
            processor: Duration::from_nanos(time.round() as u64),
        }
    }

    fn works(costs: &Costs) -> Vec<Work> {
        let shapes = [
            ((1000, 1), (500, 1)),
            ((100, 20), (40, 1)),
            ((40, 1), (900, 10)),
            ((10, 50), (200, 3)),
        ];
        shapes
            .into_iter()
            .flat_map(|(received, sent)| {
                [100, 1200, 6000].map(|size| work(received, sent, size, costs))
            })
            .collect()
    }

    const COSTS: Costs = Costs {
        receive: Cost::new(3000.0, 1000.0, 0.4),
        send: Cost::new(4000.0, 1200.0, 0.5),
        error: 0.0,
    };

    #[test]
    fn known_costs_are_found() {
        let found = fit(&works(&COSTS)).unwrap();
        for (found, expected) in [
            (found.receive.batch, 3000.0),
            (found.receive.datagram, 1000.0),
            (found.receive.byte, 0.4),
            (found.send.batch, 4000.0),
            (found.send.datagram, 1200.0),
            (found.send.byte, 0.5),
        ] {
            assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
        }
        assert!(found.error < 1e-3, "{}", found.error);
    }

    #[test]
    fn no_cost_is_negative() {
        let free = Costs {
            receive: Cost::new(0.0, 1000.0, 0.0),
            ..COSTS
        };
        let mut works = works(&free);
        // As if large batches were cheaper than nothing.
        for work in works
            .iter_mut()
            .filter(|work| work.counts.batches.max() > 10)
        {
            work.processor = work.processor.mul_f64(0.9);
        }
        let found = fit(&works).unwrap();
        for cost in [found.receive.batch, found.receive.byte, found.send.byte] {
            assert!(cost >= 0.0);
        }
        assert!(found.error > 0.01, "{}", found.error);
    }

    #[test]
    fn a_median_is_neither_the_fastest_nor_the_slowest() {
        let one = work((100, 4), (50, 2), 1200, &COSTS);
        let at = |factor: f64| Work {
            processor: one.processor.mul_f64(factor),
            ..one.clone()
        };
        let found = median([3.0, 0.5, 1.0].map(at).to_vec());
        assert_eq!(found.map(|work| work.processor), Some(one.processor));
        assert!(median(Vec::new()).is_none());
    }

    #[test]
    fn too_little_work_says_nothing() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&works(&COSTS)[..5]), None);
        let idle = Work {
            counts: Counts::default(),
            processor: Duration::ZERO,
        };
        assert_eq!(fit(&vec![idle; 20]), None);
    }
}
