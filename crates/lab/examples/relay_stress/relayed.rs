//! A relay in a process of its own.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::AnyError;

pub(crate) struct Relayed {
    process: Child,
    pub(crate) address: SocketAddr,
    /// In kB, right after the start.
    pub(crate) base: u64,
    /// Returns the peak of its memory in kB.
    watcher: JoinHandle<u64>,
    /// Kept open if it is not read.
    _unread: Option<BufReader<ChildStderr>>,
}

/// What a relay has left behind.
pub(crate) struct End {
    pub(crate) summary: String,
    /// Since the signal.
    pub(crate) took: Duration,
    /// In kB.
    pub(crate) peak: u64,
}

impl Relayed {
    /// Starts it with these options. What it says is read only if `read` is true.
    pub(crate) fn start(to: SocketAddr, options: &str, read: bool) -> Result<Self, AnyError> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["relay", "--listen", "127.0.0.1:0", "--to", &to.to_string()])
            .args(options.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stderr = BufReader::new(process.stderr.take().ok_or("there is no stderr")?);
        let mut first = String::new();
        stderr.read_line(&mut first)?;
        let address = first.split(' ').nth(1).ok_or(first.clone())?.parse()?;
        let unread = if read {
            thread::spawn(move || stderr.lines().for_each(drop));
            None
        } else {
            Some(stderr)
        };
        let id = process.id();
        let watcher = thread::spawn(move || {
            let mut peak = 0;
            while let Some(now) = memory(id, "VmHWM") {
                peak = now;
                thread::sleep(LOOK);
            }
            peak
        });
        Ok(Self {
            base: memory(id, "VmRSS").unwrap_or(0),
            process,
            address,
            watcher,
            _unread: unread,
        })
    }

    /// What it has in memory, in kB.
    pub(crate) fn resident(&self) -> u64 {
        memory(self.process.id(), "VmRSS").unwrap_or(0)
    }

    pub(crate) fn signal(&self, name: &str) -> Result<(), AnyError> {
        let id = self.process.id().to_string();
        Command::new("kill").args([name, &id]).status()?;
        Ok(())
    }

    /// Ends it; kills it if it takes longer than [`PATIENCE`].
    pub(crate) fn end(mut self) -> Result<End, AnyError> {
        let begun = now();
        self.signal("-TERM")?;
        while self.process.try_wait()?.is_none() && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        let took = begun.elapsed();
        // It has ended already unless it hangs.
        self.process.kill()?;
        self.process.wait()?;
        let mut summary = String::new();
        let mut stdout = self.process.stdout.take().ok_or("there is no stdout")?;
        stdout.read_to_string(&mut summary)?;
        let peak = self.watcher.join().map_err(|_| "the watcher panicked")?;
        Ok(End {
            summary,
            took,
            peak,
        })
    }
}

/// A process's line of `/proc`, in kB; `None` once it has ended.
fn memory(id: u32, line: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let mut lines = status.lines();
    let value = lines.find_map(|text| text.strip_prefix(line)?.strip_prefix(':'))?;
    value.split_whitespace().next()?.parse().ok()
}

/// Counts of the summary: the numbers before some words of its lines.
impl End {
    pub(crate) fn count(&self, line: &str, what: &str) -> u64 {
        let mut lines = self.summary.lines();
        let number = lines.find_map(|text| {
            let (before, _) = text.strip_prefix(line)?.split_once(what)?;
            before
                .split([' ', ':'])
                .rfind(|word| !word.is_empty())?
                .parse()
                .ok()
        });
        number.unwrap_or(0)
    }

    /// Packets of the clients that it knows of: read, not admitted, or not read.
    pub(crate) fn known_of_clients(&self) -> u64 {
        let before = "dropped before a link";
        self.count("up:", " packets received")
            + self.count(before, " of clients not admitted")
            + self.count(before, " from strangers")
            + self.count(before, " not read in time")
    }
}

pub(crate) fn now() -> Instant {
    Instant::now()
}

const LOOK: Duration = Duration::from_millis(10);

const PATIENCE: Duration = Duration::from_secs(60);
