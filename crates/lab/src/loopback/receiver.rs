//! A receiver in a process of its own: this program, started again.
//!
//! The child writes its address on the first line of its standard output. When its standard input ends it writes what it
//! has received, as JSON, on the second, and exits. So it ends with its parent, however that ends.

use std::io::{BufRead, BufReader, Read, Write, stdin};
use std::net::SocketAddr;
use std::process::{ChildStdout, Command, Stdio};
use std::thread::JoinHandle;
use std::{env, io, process, thread};

use tokio::sync::oneshot;

use super::sides::Received;
use super::{LoopbackError, Processes, sides};
use crate::controllers::Stack;

/// The parent's end.
#[derive(Debug)]
pub(super) struct Child {
    process: process::Child,
    output: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Child {
    pub(super) fn start(stack: Stack, socket_buffer: Option<usize>) -> Result<Self, LoopbackError> {
        let program = env::current_exe().map_err(LoopbackError::system("find this program"))?;
        let mut command = Command::new(program);
        command.arg(RECEIVER_COMMAND);
        if stack == Stack::Noq {
            command.arg("--noq");
        }
        if let Some(size) = socket_buffer {
            command.args(["--socket-buffer", &size.to_string()]);
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(LoopbackError::system("start the receiver's process"))?;
        let Some(output) = process.stdout.take() else {
            return Err(LoopbackError::Receiver("it has no output".to_owned()));
        };
        let mut output = BufReader::new(output);
        let line = next_line(&mut output)?;
        let address = line
            .parse()
            .map_err(|_| LoopbackError::Receiver(format!("'{line}' is not an address")))?;
        Ok(Self {
            process,
            output,
            address,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn stop(mut self) -> Result<Received, LoopbackError> {
        drop(self.process.stdin.take());
        let line = next_line(&mut self.output)?;
        serde_json::from_str(&line).map_err(|error| LoopbackError::Receiver(error.to_string()))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have exited already; then there is only its status to collect.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn next_line(output: &mut impl BufRead) -> Result<String, LoopbackError> {
    let mut line = String::new();
    match output.read_line(&mut line) {
        Ok(0) => Err(LoopbackError::Receiver("it has ended".to_owned())),
        Ok(_) => Ok(line.trim_end().to_owned()),
        Err(error) => Err(LoopbackError::Receiver(error.to_string())),
    }
}

/// The child's end: receives one transfer, until standard input ends.
///
/// # Errors
/// The system refuses a socket or a thread, or `out` cannot be written to.
pub fn receive(
    stack: Stack,
    socket_buffer: Option<usize>,
    out: &mut dyn Write,
) -> Result<(), LoopbackError> {
    let socket = sides::bind(socket_buffer)?;
    let address = socket
        .local_addr()
        .map_err(LoopbackError::system("open a socket"))?;
    let mut say = |line: String| {
        writeln!(out, "{line}")
            .and_then(|()| out.flush())
            .map_err(LoopbackError::system("write to the sender"))
    };
    say(address.to_string())?;
    let (stop, stopped) = oneshot::channel();
    thread::Builder::new()
        .name("control".to_owned())
        .spawn(move || {
            // An error ends the input as well.
            let _ = io::copy(&mut stdin().lock().by_ref(), &mut io::sink());
            // The receiver may have failed by now.
            let _ = stop.send(());
        })
        .map_err(LoopbackError::system("start a thread"))?;
    let received = sides::receive(stack, socket, stopped)?;
    say(serde_json::to_string(&received)
        .map_err(|error| LoopbackError::Receiver(error.to_string()))?)
}

/// The command that calls [`receive`].
pub(crate) const RECEIVER_COMMAND: &str = "loopback-receiver";

/// A receiver at work. It receives one transfer: nothing of it reaches the next.
#[derive(Debug)]
pub(super) enum Receiver {
    /// On a thread of this process.
    Thread {
        address: SocketAddr,
        stop: oneshot::Sender<()>,
        thread: JoinHandle<Result<Received, LoopbackError>>,
    },
    /// In a process of its own.
    Process(Child),
}

impl Receiver {
    pub(super) fn start(
        processes: Processes,
        stack: Stack,
        socket_buffer: Option<usize>,
    ) -> Result<Self, LoopbackError> {
        match processes {
            Processes::One => {
                let socket = sides::bind(socket_buffer)?;
                let address = socket
                    .local_addr()
                    .map_err(LoopbackError::system("open a socket"))?;
                let (stop, stopped) = oneshot::channel();
                let thread = thread::Builder::new()
                    .name("receiver".to_owned())
                    .spawn(move || sides::receive(stack, socket, stopped))
                    .map_err(LoopbackError::system("start a thread"))?;
                Ok(Self::Thread {
                    address,
                    stop,
                    thread,
                })
            }
            Processes::Two => Child::start(stack, socket_buffer).map(Self::Process),
        }
    }

    /// Where it receives.
    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::Thread { address, .. } => *address,
            Self::Process(child) => child.address(),
        }
    }

    /// Ends it, and tells what it has received.
    pub(super) fn stop(self) -> Result<Received, LoopbackError> {
        match self {
            Self::Thread { stop, thread, .. } => {
                // A thread that is gone already says why.
                let _ = stop.send(());
                let panicked = |_| Err(LoopbackError::Panicked("receiver"));
                thread.join().unwrap_or_else(panicked)
            }
            Self::Process(child) => child.stop(),
        }
    }
}
