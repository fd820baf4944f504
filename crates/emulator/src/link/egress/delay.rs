//! Propagation.

mod wifi;

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::generate::random;
use crate::link::config::{Delay, DelayStep, Jitter, TRUNCATION};
use crate::link::timeline::Timeline;
use crate::packet::Packet;
use crate::time::Nanos;

/// Delays packets.
#[derive(Debug)]
pub(super) struct DelayLine {
    /// The delay of each packet, if it is constant.
    delay: Nanos,
    varying: Option<Box<Varying>>,
    /// Delivery time, bytes on the wire, packet; in the order of time.
    packets: VecDeque<(Nanos, u64, Packet)>,
}

/// State that most links do not need.
#[derive(Debug)]
struct Varying {
    model: Model,
    /// The latest delivery so far, if nothing may overtake it; else what is on its way instead of the line's packets.
    order: Order,
}

#[derive(Debug)]
enum Model {
    Steps(Vec<DelayStep>),
    Jittered { jitter: Jitter, generator: Pcg64 },
}

#[derive(Debug)]
enum Order {
    Kept(Nanos),
    Free(Timeline<(u64, Packet)>),
}

impl DelayLine {
    pub(super) fn new(delay: Delay, seed: u64) -> Self {
        let (delay, varying) = match delay {
            Delay::Fixed(delay) => (delay, None),
            Delay::Steps { steps, reordering } => (
                Nanos::ZERO,
                Some(Varying::new(Model::Steps(steps), reordering)),
            ),
            Delay::Jittered { jitter, reordering } => {
                let generator = Pcg64::seed_from_u64(seed);
                let model = Model::Jittered { jitter, generator };
                (Nanos::ZERO, Some(Varying::new(model, reordering)))
            }
        };
        Self {
            delay,
            varying: varying.map(Box::new),
            packets: VecDeque::new(),
        }
    }

    /// Takes a packet that departs at the given time, not before the one pushed previously. Returns when it arrives.
    #[inline]
    pub(super) fn push(&mut self, departure: Nanos, size: u64, packet: Packet) -> Nanos {
        if self.varying.is_some() {
            return self.push_varying(departure, size, packet);
        }
        let delivery = departure + self.delay;
        self.packets.push_back((delivery, size, packet));
        delivery
    }

    #[inline(never)]
    fn push_varying(&mut self, departure: Nanos, size: u64, packet: Packet) -> Nanos {
        let Some(varying) = &mut self.varying else {
            return departure;
        };
        let delivery = departure + varying.model.draw(departure);
        match &mut varying.order {
            Order::Kept(latest) => {
                *latest = delivery.max(*latest);
                self.packets.push_back((*latest, size, packet));
                *latest
            }
            Order::Free(packets) => {
                packets.push(delivery, (size, packet));
                delivery
            }
        }
    }

    /// Whether packets are delivered in the order in which they are pushed.
    pub(super) fn in_order(&self) -> bool {
        let order = self.varying.as_ref().map(|varying| &varying.order);
        !matches!(order, Some(Order::Free(_)))
    }

    pub(super) fn next_delivery(&self) -> Option<Nanos> {
        if let Some(varying) = &self.varying
            && let Order::Free(packets) = &varying.order
        {
            return packets.next();
        }
        self.next_in_order()
    }

    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, u64, Packet)> {
        if let Some(varying) = &mut self.varying
            && let Order::Free(packets) = &mut varying.order
        {
            let (delivery, (size, packet)) = packets.pop(now)?;
            return Some((delivery, size, packet));
        }
        self.pop_in_order(now)
    }

    /// As [`next_delivery`](Self::next_delivery), if packets stay [in order](Self::in_order).
    #[inline]
    pub(super) fn next_in_order(&self) -> Option<Nanos> {
        self.packets.front().map(|(delivery, ..)| *delivery)
    }

    /// As [`pop`](Self::pop), if packets stay [in order](Self::in_order).
    #[inline]
    pub(super) fn pop_in_order(&mut self, now: Nanos) -> Option<(Nanos, u64, Packet)> {
        if self.next_in_order()? > now {
            return None;
        }
        self.packets.pop_front()
    }
}

impl Varying {
    fn new(model: Model, reordering: bool) -> Self {
        let order = if reordering {
            Order::Free(Timeline::new())
        } else {
            Order::Kept(Nanos::ZERO)
        };
        Self { model, order }
    }
}

impl Model {
    fn draw(&mut self, departure: Nanos) -> Nanos {
        match self {
            Self::Steps(steps) => {
                let after = steps.partition_point(|step| step.from <= departure);
                let step = after.checked_sub(1).and_then(|last| steps.get(last));
                step.map_or(Nanos::ZERO, |step| step.delay)
            }
            Self::Jittered { jitter, generator } => match *jitter {
                Jitter::Uniform { from, to } => {
                    let values = u128::from((to - from).0) + 1;
                    let drawn = (u128::from(generator.next_u64()) * values) >> u64::BITS;
                    from + Nanos(drawn as u64)
                }
                Jitter::Normal { mean, deviation } => {
                    let mut drawn = random::normal(generator);
                    while drawn.abs() > TRUNCATION as f64 {
                        drawn = random::normal(generator);
                    }
                    // A conversion from floating point saturates.
                    Nanos((mean.0 as f64 + drawn * deviation.0 as f64) as u64)
                }
                Jitter::Wifi { from, mean } => from + wifi::jitter(generator, mean),
            },
        }
    }
}

#[cfg(test)]
mod tests;
