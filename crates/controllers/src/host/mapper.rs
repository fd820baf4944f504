//! What a host measures for the mapping of a controller's answer onto a window, and the window itself.

use core::time::Duration;

use super::ack_gap::AckGap;
use super::link_rate::{Acked, LinkRate};
use super::mapping::{self, Path};
use crate::config::WindowPolicy;
use crate::controller::Control;
use crate::event::AckEvent;
use crate::model::horizon;
use crate::units::{Bytes, saturating_nanos as nanos};

/// Keeps the window that a [`WindowPolicy`] makes of a controller's answers.
#[derive(Debug, Clone)]
pub struct Mapper {
    policy: WindowPolicy,
    /// Without its smoothed round-trip time, which only some policies want.
    path: Path,
    /// In nanoseconds.
    smoothed_rtt: u64,
    ack_gap: AckGap,
    /// Only for the policy that tracks it.
    link_rate: Option<LinkRate>,
    /// What the window is made of, where it also depends on what is in flight.
    target: Option<Bytes>,
}

impl Mapper {
    /// A mapper for a path that carries datagrams of `mtu`, of which nothing else is known.
    pub fn new(policy: WindowPolicy, mtu: Bytes) -> Self {
        Self {
            policy,
            path: Path {
                mtu,
                ..Path::default()
            },
            smoothed_rtt: 0,
            ack_gap: AckGap::new(),
            link_rate: match policy {
                WindowPolicy::Track(headroom) => Some(LinkRate::new(headroom)),
                _ => None,
            },
            target: None,
        }
    }

    /// What has been measured.
    pub fn path(&self) -> Path {
        Path {
            smoothed_rtt: Duration::from_nanos(self.smoothed_rtt),
            ..self.path
        }
    }

    /// The largest datagram that fits.
    #[inline]
    pub const fn mtu(&self) -> Bytes {
        self.path.mtu
    }

    /// The path carries other datagrams.
    pub fn set_mtu(&mut self, mtu: Bytes) {
        self.path.mtu = mtu;
    }

    /// So much is in flight now. Returns the window if that changes it.
    #[inline]
    pub fn on_sent(&mut self, in_flight: Bytes, control: &Control) -> Option<Bytes> {
        self.path.in_flight = in_flight;
        self.target
            .map(|target| mapping::window_towards(self.policy, target, control, &self.path))
    }

    /// Takes from an acknowledgement what the policy goes by, and nothing else. `control` is what the controller
    /// asked for before it.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckEvent, control: &Control) {
        self.path.in_flight = ack.in_flight;
        self.update_smoothed_rtt(ack.rtt);
        if !matches!(self.policy, WindowPolicy::Window) {
            self.measure(ack, control);
        }
    }

    #[inline]
    fn measure(&mut self, ack: &AckEvent, control: &Control) {
        // Until there is a model this RTT will do: nothing that depends on it is used before.
        let point = control.operating_point.as_ref();
        let min_rtt = point.map_or(ack.rtt, |point| point.min_rtt);
        if !matches!(self.policy, WindowPolicy::Track(_)) {
            self.path.smoothed_rtt = Duration::from_nanos(self.smoothed_rtt);
        }
        match self.policy {
            WindowPolicy::Window => {}
            WindowPolicy::Rate | WindowPolicy::Cap | WindowPolicy::Bdp { .. } => {
                self.measure_gap(ack, min_rtt);
            }
            WindowPolicy::Track(_) => {
                self.measure_gap(ack, min_rtt);
                if let Some(link_rate) = &mut self.link_rate {
                    link_rate.on_ack(&Acked {
                        now: ack.now,
                        bytes: ack.acked,
                        rtt: ack.rtt,
                        min_rtt,
                        window_limited: !ack.app_limited && !control.self_limited,
                    });
                    self.path.forecast = link_rate.forecast(self.path.mtu);
                }
            }
        }
    }

    #[inline]
    fn measure_gap(&mut self, ack: &AckEvent, min_rtt: Duration) {
        let limit = horizon(min_rtt);
        self.ack_gap.on_ack(ack.now, ack.round, ack.acked, limit);
        // One acknowledgement for all that was in flight is the path's way, unless the application has no more.
        if ack.in_flight == Bytes::ZERO && ack.app_limited {
            self.ack_gap.on_idle();
        }
        self.path.ack_gap = self.ack_gap.longest();
        self.path.recurring_gap = self.ack_gap.recurring();
    }

    /// RFC 9002, section 5.3, without the acknowledgement delay that a controller is not told.
    #[inline]
    fn update_smoothed_rtt(&mut self, sample: Duration) {
        // In whole nanoseconds: dividing a `Duration` takes several divisions.
        let sample = nanos(sample);
        self.smoothed_rtt = match self.smoothed_rtt {
            0 => sample,
            smoothed => smoothed - smoothed / 8 + sample / 8,
        };
    }

    /// The window that goes with `control`.
    #[inline]
    pub fn window(&mut self, control: &Control) -> Bytes {
        if control.operating_point.is_none() || matches!(self.policy, WindowPolicy::Window) {
            self.target = None;
            return control.window;
        }
        self.mapped_window(control)
    }

    /// Apart, so that controllers with nothing but a window do not pay for its registers.
    #[inline(never)]
    fn mapped_window(&mut self, control: &Control) -> Bytes {
        self.target = mapping::target(self.policy, control, &self.path);
        match self.target {
            Some(target) => mapping::window_towards(self.policy, target, control, &self.path),
            None => mapping::window(self.policy, control, &self.path),
        }
    }
}
