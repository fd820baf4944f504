//! The attacks.

/// One attack: which relay, who sends what, and how it ends.
pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// Of `kneepoint relay`.
    pub(crate) options: &'static str,
    pub(crate) flood: Flood,
    /// Of each datagram of the flood.
    pub(crate) size: usize,
    pub(crate) log: Log,
    pub(crate) ending: Ending,
    /// Whether anybody reads what the relay says.
    pub(crate) heard: bool,
}

/// Who floods whom.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flood {
    /// A client floods the relay.
    Client,
    /// Each datagram comes from another address of 127.0.0.0/8, from another port.
    Spoofed,
    /// The server floods a client.
    Server,
    /// A stranger floods the relay's socket for a client.
    Stranger,
}

/// Where the log goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Log {
    None,
    /// A file.
    File,
    /// A disk that is full.
    Full,
    /// A pipe that is read at 250 kB/s.
    Slow,
    /// A pipe that nobody reads.
    Stuck,
}

/// How it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The flood ends, then comes SIGTERM.
    Quiet,
    /// SIGTERM comes during the flood.
    Flooded,
    /// The relay is stopped for 3 s during the flood, and goes on.
    Asleep,
}

impl Attack {
    const fn new(name: &'static str, flood: Flood, size: usize, options: &'static str) -> Self {
        Self {
            name,
            options,
            flood,
            size,
            log: Log::None,
            ending: Ending::Quiet,
            heard: true,
        }
    }

    const fn log(self, log: Log) -> Self {
        Self { log, ..self }
    }

    const fn ending(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    const fn unheard(self) -> Self {
        Self {
            heard: false,
            ..self
        }
    }
}

pub(crate) const ALL: &[Attack] = {
    use Ending::{Asleep, Flooded};
    use Flood::{Client, Server, Spoofed, Stranger};
    use Log::{File, Full, Slow, Stuck};
    const SMALL: &str = "--memory 16MiB";
    /// What comes stays for long.
    const LONG: &str = "--memory 64MiB --up-queue inf --up-delay 60s";
    /// All that came in a time is due at once.
    const LATE: &str = "--memory 64MiB --up-queue inf --up-delay 2s";
    &[
        Attack::new("small datagrams", Client, 64, SMALL),
        Attack::new("64 kB datagrams", Client, 65_507, SMALL),
        Attack::new(
            "narrow link",
            Client,
            1200,
            "--memory 16MiB --up 1Mbps --up-queue inf",
        ),
        Attack::new("long delay, empty", Client, 0, LONG),
        Attack::new("long delay, 1200 B", Client, 1200, LONG),
        Attack::new("long delay, 64 kB", Client, 65_507, LONG),
        Attack::new("due at once", Client, 0, LATE).ending(Asleep),
        Attack::new("due at once, 64 kB", Client, 65_507, LATE).ending(Asleep),
        Attack::new("spoofed sources", Spoofed, 64, SMALL),
        Attack::new(
            "spoofed, few files",
            Spoofed,
            64,
            "--memory 16MiB --clients 5000",
        ),
        Attack::new(
            "spoofed, logged",
            Spoofed,
            64,
            "--memory 1MiB --log-format csv",
        )
        .log(File),
        Attack::new("server", Server, 1200, SMALL),
        Attack::new("stranger", Stranger, 64, SMALL),
        Attack::new("full disk", Client, 64, SMALL).log(Full),
        Attack::new("slow log", Client, 64, SMALL).log(Slow),
        Attack::new("slow log, spoofed", Spoofed, 64, SMALL).log(Slow),
        Attack::new("stuck log", Client, 64, SMALL).log(Stuck),
        Attack::new(
            "nobody reads stderr",
            Client,
            64,
            "--memory 16MiB --stats 2ms",
        )
        .unheard(),
        Attack::new("SIGTERM", Client, 64, SMALL).ending(Flooded),
        Attack::new("SIGTERM, spoofed", Spoofed, 64, SMALL).ending(Flooded),
        Attack::new("SIGTERM, logged", Client, 64, SMALL)
            .log(File)
            .ending(Flooded),
        Attack::new("sleep", Client, 1200, SMALL).ending(Asleep),
        Attack::new(
            "sleep, clients idle",
            Client,
            1200,
            "--memory 16MiB --idle 2s",
        )
        .ending(Asleep),
    ]
};
