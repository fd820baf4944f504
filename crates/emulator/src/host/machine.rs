//! A host at work, without I/O.
//!
//! The processor does one thing at a time: it reads a batch, sends a burst, or lets one who waits to send do so. Who asks
//! first is served first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;
use std::task::Waker;

use rand_pcg::Pcg64;

use super::HostConfig;
use super::clock::ProcessorClock;
use crate::link::Count;
use crate::packet::Packet;
use crate::time::Nanos;

/// One host: the sockets of one IP address and the processor that they share.
#[derive(Debug)]
pub(crate) struct Machine {
    config: Arc<HostConfig>,
    clock: ProcessorClock,
    job: Job,
    reads: VecDeque<(u64, PortId)>,
    sends: VecDeque<(u64, Request)>,
    ports: BTreeMap<PortId, Port>,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    /// Numbers events and requests, in the order in which they came.
    sequence: u64,
    opened: u64,
    /// Payload of the bursts that have not left.
    unsent: u64,
    /// No burst begins before.
    pause_end: Nanos,
    pauses: Pcg64,
    /// When it was last to resume.
    resumed: Option<Nanos>,
}

/// A socket of a host, for as long as it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PortId(u64);

/// One who waits to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(u64);

/// The actions of a host.
#[derive(Debug)]
pub(crate) enum Effect {
    /// A datagram leaves.
    Depart(Packet),
    /// The application may read a datagram.
    Deliver(Packet),
    /// One may send.
    Wake(Waker),
}

/// The host has no room for what is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// The statistics of a socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiveStatistics {
    /// Arrivals, in UDP payload.
    pub arrived: Count,
    /// Arrivals dropped because the socket's buffer was full.
    pub dropped: Count,
    /// Datagrams read by the application.
    pub read: Count,
    /// In how many batches it was handed over.
    pub batches: u64,
}

/// The state of the processor.
#[derive(Debug)]
enum Job {
    Idle,
    Reading(Batch),
    Sending(Vec<Packet>),
    /// It waits for the burst of one who was told to send at this instant.
    Offering(Ticket),
}

#[derive(Debug)]
struct Batch {
    port: PortId,
    began: Nanos,
    packets: Vec<Packet>,
}

#[derive(Debug)]
enum Request {
    /// To be told when to send.
    Turn(Ticket, Waker),
    Burst(Vec<Packet>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    WakeUp(PortId),
    /// The processor has finished its work.
    Done,
    /// The instant is over in which one could send.
    Lapse(Ticket),
    /// The pause between bursts is over.
    Resume,
}

#[derive(Debug)]
struct Port {
    wakeups: Pcg64,
    waiting: VecDeque<Packet>,
    bytes: u64,
    state: Reader,
    /// When the latest batch began.
    stamp: Nanos,
    statistics: ReceiveStatistics,
}

/// The state of a socket's reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Asleep,
    WakingUp,
    /// It waits for the processor.
    Queued,
    Reading,
    /// It has been handed a batch, and has not asked for more.
    Handed,
}

impl Machine {
    /// `generator` makes the generator of a purpose: it is asked for two, in this order: pauses, other work.
    pub(crate) fn new(config: Arc<HostConfig>, mut generator: impl FnMut() -> Pcg64) -> Self {
        let pauses = generator();
        let clock = ProcessorClock::new(config.processor.others.clone(), generator());
        Self {
            config,
            clock,
            job: Job::Idle,
            reads: VecDeque::new(),
            sends: VecDeque::new(),
            ports: BTreeMap::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            opened: 0,
            unsent: 0,
            pause_end: Nanos::ZERO,
            pauses,
            resumed: None,
        }
    }

    pub(crate) fn config(&self) -> &HostConfig {
        &self.config
    }

    /// Opens a socket that draws its wake-ups from a generator of its own.
    pub(crate) fn open(&mut self, wakeups: Pcg64) -> PortId {
        let id = PortId(self.opened);
        self.opened += 1;
        let port = Port {
            wakeups,
            waiting: VecDeque::new(),
            bytes: 0,
            state: Reader::Asleep,
            stamp: Nanos::ZERO,
            statistics: ReceiveStatistics::default(),
        };
        self.ports.insert(id, port);
        id
    }

    /// Closes a socket. What waits for its reader is lost, what it has sent is not.
    pub(crate) fn close(&mut self, port: PortId) {
        self.ports.remove(&port);
    }

    pub(crate) fn statistics(&self, port: PortId) -> Option<ReceiveStatistics> {
        self.ports.get(&port).map(|port| port.statistics)
    }

    /// When to poll next.
    pub(crate) fn next_event(&self) -> Option<Nanos> {
        self.events.peek().map(|Reverse((time, ..))| *time)
    }

    /// A datagram arrives from the network.
    pub(crate) fn arrive(&mut self, now: Nanos, id: PortId, packet: Packet) {
        // A processor that works does not sleep: it looks at its sockets when it is done.
        let awake = !matches!(self.job, Job::Idle);
        let limit = self.config.receive.buffer_bytes;
        let Some(port) = self.ports.get_mut(&id) else {
            return;
        };
        let bytes = packet.payload.len() as u64;
        count(&mut port.statistics.arrived, bytes);
        if port.bytes.saturating_add(bytes) > limit {
            count(&mut port.statistics.dropped, bytes);
            return;
        }
        port.bytes += bytes;
        port.waiting.push_back(packet);
        if port.state == Reader::Asleep {
            port.state = Reader::WakingUp;
            let delay = if awake {
                Nanos::ZERO
            } else {
                self.config.receive.wakeup.sample(&mut port.wakeups)
            };
            self.schedule(now + delay, Event::WakeUp(id));
        }
    }

    /// The reader of a socket has read all that it was handed, and asks for more.
    pub(crate) fn drained(&mut self, now: Nanos, id: PortId) {
        let Some(port) = self.ports.get_mut(&id) else {
            return;
        };
        if port.state != Reader::Handed {
            return;
        }
        if port.waiting.is_empty() {
            port.state = Reader::Asleep;
        } else {
            // By an event, so that those whom the batch woke ask for the processor first: an event loop looks at its sockets
            // again when its tasks have run.
            port.state = Reader::WakingUp;
            self.schedule(now, Event::WakeUp(id));
        }
    }

    /// The time stamp of the batch that a socket's reader has been handed and has not read to its end: when it began to read.
    pub(crate) fn stamp(&self, id: PortId) -> Option<Nanos> {
        let port = self.ports.get(&id)?;
        (port.state == Reader::Handed).then_some(port.stamp)
    }

    /// Whether a socket may send now. If not, the waker is called when it may, and the ticket says who asked.
    pub(crate) fn may_send(
        &mut self,
        now: Nanos,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> bool {
        if let (Job::Offering(offered), Some(asked)) = (&self.job, *ticket)
            && *offered == asked
        {
            *ticket = None;
            return true;
        }
        let asked = self
            .sends
            .iter_mut()
            .find_map(|(_, request)| match request {
                Request::Turn(other, waker) if Some(*other) == *ticket => Some(waker),
                _ => None,
            });
        if let Some(present) = asked {
            present.clone_from(waker);
            return false;
        }
        if self.can_begin_burst(now) {
            *ticket = None;
            return true;
        }
        let number = Ticket(self.number());
        *ticket = Some(number);
        let request = (number.0, Request::Turn(number, waker.clone()));
        self.sends.push_back(request);
        self.resume(now);
        false
    }

    /// One who waits to send gives up.
    pub(crate) fn forget(&mut self, ticket: Ticket) -> Option<Waker> {
        let place = self.sends.iter().position(
            |(_, request)| matches!(request, Request::Turn(other, _) if *other == ticket),
        );
        match self.sends.remove(place?) {
            Some((_, Request::Turn(_, waker))) => Some(waker),
            _ => None,
        }
    }

    /// Sends the datagrams of one transmit.
    pub(crate) fn send(&mut self, now: Nanos, mut packets: Vec<Packet>) -> Result<(), Full> {
        let bytes = payload(&packets);
        let begins = self.can_begin_burst(now) || matches!(self.job, Job::Offering(_));
        // Something always fits into an empty buffer.
        let unsent = self.unsent.saturating_add(bytes);
        if !begins && self.unsent > 0 && unsent > self.config.send.buffer_bytes {
            return Err(Full);
        }
        self.unsent = unsent;
        let burst = usize::try_from(self.config.send.burst_datagrams)
            .unwrap_or(1)
            .max(1);
        let mut begins = begins;
        while !packets.is_empty() {
            let rest = packets.split_off(burst.min(packets.len()));
            let burst = std::mem::replace(&mut packets, rest);
            if begins {
                self.begin_burst(now, burst);
                begins = false;
            } else {
                let number = self.number();
                self.sends.push_back((number, Request::Burst(burst)));
                self.resume(now);
            }
        }
        Ok(())
    }

    /// Lets everything happen that is due by `now`.
    pub(crate) fn poll(&mut self, now: Nanos, effects: &mut dyn FnMut(Effect)) {
        while let Some(Reverse((time, _, event))) = self.events.peek().copied()
            && time <= now
        {
            self.events.pop();
            match event {
                Event::WakeUp(id) => self.wake_up(id),
                Event::Done => self.done(time, effects),
                Event::Lapse(ticket) => {
                    if matches!(self.job, Job::Offering(offered) if offered == ticket) {
                        self.job = Job::Idle;
                    }
                }
                Event::Resume => {}
            }
            self.dispatch(time, effects);
        }
    }

    fn wake_up(&mut self, id: PortId) {
        let number = self.number();
        if let Some(port) = self.ports.get_mut(&id)
            && port.state == Reader::WakingUp
        {
            port.state = Reader::Queued;
            self.reads.push_back((number, id));
        }
    }

    /// Gives an idle processor what was asked for first.
    fn dispatch(&mut self, now: Nanos, effects: &mut dyn FnMut(Effect)) {
        while matches!(self.job, Job::Idle) {
            let read = self.reads.front().map(|(number, _)| *number);
            let send = self.sends.front().map(|(number, _)| *number);
            let send = send.filter(|_| now >= self.pause_end);
            match (read, send) {
                (None, None) => {
                    self.resume(now);
                    return;
                }
                (Some(read), send) if send.is_none_or(|send| read < send) => {
                    if let Some((_, id)) = self.reads.pop_front() {
                        self.begin_batch(now, id);
                    }
                }
                _ => match self.sends.pop_front() {
                    Some((_, Request::Burst(packets))) => self.begin_burst(now, packets),
                    Some((_, Request::Turn(ticket, waker))) => {
                        self.job = Job::Offering(ticket);
                        self.schedule(now, Event::Lapse(ticket));
                        effects(Effect::Wake(waker));
                    }
                    None => return,
                },
            }
        }
    }

    fn begin_batch(&mut self, now: Nanos, id: PortId) {
        let Some(port) = self.ports.get_mut(&id) else {
            return;
        };
        port.state = Reader::Reading;
        // A reader looks at the clock once it has the processor, not while others have it: what comes in between would seem to have
        // come before.
        let began = self.clock.done(now, Nanos::ZERO);
        let batch = Batch {
            port: id,
            began,
            packets: Vec::new(),
        };
        self.read_on(began, batch, self.config.processor.wakeup);
    }

    /// Takes what has arrived, as far as the batch's limits let it, on top of other work for it.
    fn read_on(&mut self, now: Nanos, mut batch: Batch, mut work: Nanos) {
        let (receive, processor) = (&self.config.receive, &self.config.processor);
        let spent = now - batch.began;
        if let Some(port) = self.ports.get_mut(&batch.port) {
            while receive.takes(batch.packets.len(), spent + work)
                && let Some(packet) = port.waiting.pop_front()
            {
                let bytes = packet.payload.len();
                port.bytes = port.bytes.saturating_sub(bytes as u64);
                work = work + processor.receiving(bytes);
                batch.packets.push(packet);
            }
        }
        let done = self.clock.done(now, work);
        self.job = Job::Reading(batch);
        self.schedule(done, Event::Done);
    }

    /// Work for a burst begins, and the burst leaves at its end.
    fn begin_burst(&mut self, now: Nanos, packets: Vec<Packet>) {
        let processor = &self.config.processor;
        let work = packets.iter().fold(processor.send_burst, |work, packet| {
            work + processor.sending(packet.payload.len())
        });
        let done = self.clock.done(now, work);
        self.job = Job::Sending(packets);
        self.schedule(done, Event::Done);
    }

    fn done(&mut self, now: Nanos, effects: &mut dyn FnMut(Effect)) {
        match std::mem::replace(&mut self.job, Job::Idle) {
            Job::Reading(batch) => self.end_batch(now, batch, effects),
            Job::Sending(packets) => {
                self.unsent = self.unsent.saturating_sub(payload(&packets));
                let pause = &self.config.send.pause;
                if !pause.is_zero() {
                    self.pause_end = now + pause.sample(&mut self.pauses);
                }
                packets.into_iter().map(Effect::Depart).for_each(effects);
            }
            // Only the two of them take time.
            job @ (Job::Idle | Job::Offering(_)) => self.job = job,
        }
    }

    fn end_batch(&mut self, now: Nanos, batch: Batch, effects: &mut dyn FnMut(Effect)) {
        let Some(port) = self.ports.get_mut(&batch.port) else {
            return;
        };
        let receive = &self.config.receive;
        // Datagrams that arrived in the meantime are read too: a reader continues until its socket is empty.
        if !port.waiting.is_empty() && receive.takes(batch.packets.len(), now - batch.began) {
            return self.read_on(now, batch, Nanos::ZERO);
        }
        port.state = Reader::Handed;
        port.stamp = batch.began;
        port.statistics.batches += 1;
        for packet in batch.packets {
            count(&mut port.statistics.read, packet.payload.len() as u64);
            effects(Effect::Deliver(packet));
        }
    }

    /// Sees to it that what waits to be sent goes on when the pause is over, if nothing else lets it.
    fn resume(&mut self, now: Nanos) {
        let time = self.pause_end.max(now);
        if matches!(self.job, Job::Idle) && !self.sends.is_empty() && self.resumed != Some(time) {
            self.resumed = Some(time);
            self.schedule(time, Event::Resume);
        }
    }

    fn can_begin_burst(&self, now: Nanos) -> bool {
        matches!(self.job, Job::Idle) && self.sends.is_empty() && now >= self.pause_end
    }

    fn schedule(&mut self, time: Nanos, event: Event) {
        let number = self.number();
        self.events.push(Reverse((time, number, event)));
    }

    fn number(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }
}

fn payload(packets: &[Packet]) -> u64 {
    packets
        .iter()
        .map(|packet| packet.payload.len() as u64)
        .sum()
}

fn count(count: &mut Count, bytes: u64) {
    count.packets = count.packets.saturating_add(1);
    count.bytes = count.bytes.saturating_add(bytes);
}

#[cfg(test)]
mod tests;
