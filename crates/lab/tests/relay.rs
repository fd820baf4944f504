//! The contract of `kneepoint relay`, checked on the built command.

mod command;

use command::{anywhere, kneepoint, refused};

#[test]
fn bad_input_is_blamed_in_one_line() {
    for (arguments, part) in [
        ("--listen 0.0.0.0:0 --to 127.0.0.1:4434", "--allow-remote"),
        ("--listen [::]:0 --to [::1]:4434", "--allow-remote"),
        (
            "--listen 192.0.2.1:0 --to 127.0.0.1:4434",
            "not a loopback address",
        ),
        ("--listen 127.0.0.1:4434 --to 127.0.0.1:4434", "--to"),
        ("--listen 127.0.0.1:0 --to 127.0.0.1:0", "port"),
        ("--listen localhost --to 127.0.0.1:1", "--listen"),
        ("--up no-such-trace", "no-such-trace"),
        ("--down 0Mbps", "out of range"),
        ("--loss 1.5", "--loss"),
        ("--down-loss 1.5", "--down-loss"),
        ("--up-delay 20", "--up-delay"),
        ("--clients 0", "--clients"),
        ("--log missing-directory/log", "--log"),
        ("--log-format pcap --log log", "pcap"),
    ] {
        let ends = if arguments.starts_with("--listen") {
            ""
        } else {
            "--listen 127.0.0.1:0 --to 127.0.0.1:4434"
        };
        refused(anywhere(), &format!("relay {arguments} {ends}"), &[part]);
    }
}

#[cfg(unix)]
mod signals {
    use std::fs;
    use std::io::{self, BufRead, BufReader, Read, Write};
    use std::net::{SocketAddr, UdpSocket};
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::Duration;

    use super::{anywhere, kneepoint};

    fn socket() -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a port");
        let patience = Some(Duration::from_secs(60));
        socket.set_read_timeout(patience).expect("it is positive");
        socket
    }

    /// Starts a relay; returns it, what it says from now on, and where it listens.
    fn start(arguments: &str) -> (Child, impl Iterator<Item = String> + use<>, SocketAddr) {
        let child = kneepoint(
            anywhere(),
            &format!("relay --listen 127.0.0.1:0 {arguments}"),
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
        introduced(child.expect("the command starts"))
    }

    /// A relay that has said where it listens.
    fn introduced(mut child: Child) -> (Child, impl Iterator<Item = String> + use<>, SocketAddr) {
        let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut lines = lines.map(|line| line.expect("it is UTF-8"));
        let first = lines.next().expect("there is a line");
        let address = first.split(' ').nth(1).expect("it has an address");
        let address = address.parse().expect("it is one");
        (child, lines, address)
    }

    /// Ends a relay; returns its summary.
    fn end(child: Child, lines: impl Iterator<Item = String>, signal: &str) -> String {
        let id = child.id().to_string();
        let kill = Command::new("kill").args([signal, &id]).status();
        assert!(kill.expect("there is kill").success());
        // Statistics must not fill the pipe meanwhile.
        lines.for_each(drop);
        let (summary, success) = result(child);
        assert!(success, "{summary}");
        summary
    }

    /// The output of a relay that ends, and whether it succeeded.
    fn result(mut child: Child) -> (String, bool) {
        let mut summary = String::new();
        let mut stdout = child.stdout.take().expect("it is piped");
        stdout.read_to_string(&mut summary).expect("it is UTF-8");
        (summary, child.wait().expect("it ends").success())
    }

    /// The log of a direction.
    fn log(name: &str, direction: &str) -> String {
        let path = anywhere().join(format!("{name}.{direction}"));
        fs::read_to_string(path).expect("there is a log")
    }

    /// One datagram each way, then the signal.
    fn relay(signal: &str) {
        let (client, server) = (socket(), socket());
        let to = server.local_addr().expect("it is bound").to_string();
        let name = format!("relay{signal}.log");
        let (child, mut lines, address) = start(&format!(
            "--to {to} --up 10Mbps --delay 2ms --log {name} --log-format lateness --stats 20ms"
        ));

        let mut buffer = [0; 100];
        client.send_to(b"there", address).expect("it is sent");
        let (size, proxy) = server.recv_from(&mut buffer).expect("it arrives");
        assert_eq!(&buffer[..size], b"there");
        server.send_to(b"back", proxy).expect("it is sent");
        let (size, _) = client.recv_from(&mut buffer).expect("it arrives");
        assert_eq!(&buffer[..size], b"back");
        let statistics = lines.next().expect("there is a line");
        assert!(statistics.contains("clients 1; up "), "{statistics}");

        let summary = end(child, lines, signal);
        for part in [
            "clients: 1\n",
            "up: 1 packets received; 1 sent, 0 dropped, 0 still on their way\n",
            "up: 33 bytes onto the link, 33 bytes off it\n",
            "up: dropped: none\n",
            "down: 1 packets received; 1 sent, 0 dropped, 0 still on their way\n",
            "down: lateness p50 ",
        ] {
            assert!(summary.contains(part), "{part}: {summary}");
        }
        for (direction, size) in [("up", 33), ("down", 32)] {
            let log = log(&name, direction);
            assert!(log.starts_with("# base timestamp: 0\n"));
            assert!(log.contains(&format!(" + {size}\n")), "{log}");
            assert!(log.contains(&format!(" - {size} ")), "{log}");
        }
    }

    #[test]
    fn an_interrupt_ends_it_with_a_summary() {
        relay("-INT");
    }

    #[test]
    fn so_does_termination() {
        relay("-TERM");
    }

    /// A full disk is told of at once, does not end the relay, and does not take its summary.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_log_that_cannot_be_written_is_reported() {
        let (client, server) = (socket(), socket());
        for direction in ["up", "down"] {
            let log = anywhere().join(format!("full.log.{direction}"));
            _ = fs::remove_file(&log);
            std::os::unix::fs::symlink("/dev/full", log).expect("it can be linked");
        }
        let to = server.local_addr().expect("it is bound").to_string();
        let (child, mut lines, address) = start(&format!("--to {to} --log full.log --stats 20ms"));
        // More than a buffer of the log holds.
        for _ in 0..2_000 {
            client.send_to(b"there", address).expect("it is sent");
            server.recv_from(&mut [0; 100]).expect("it arrives");
        }
        let told = lines.find(|line| line.contains("cannot write the log full.log"));
        let told = told.expect("it is told of");
        assert!(told.contains("No space left"), "{told}");
        client.send_to(b"there", address).expect("it is sent");
        server.recv_from(&mut [0; 100]).expect("it still arrives");

        let id = child.id().to_string();
        let kill = Command::new("kill").args(["-TERM", &id]).status();
        assert!(kill.expect("there is kill").success());
        let last = lines.last().expect("it says why it failed");
        assert!(last.contains("cannot write the log"), "{last}");
        let (summary, success) = result(child);
        assert!(!success);
        assert!(
            summary.contains("up: 2001 packets received; 2001 sent"),
            "{summary}"
        );
    }

    /// Who made the system run out of sockets would lock out all others.
    #[test]
    #[cfg(target_os = "linux")]
    fn forged_sources_do_not_use_up_the_files() {
        let server = socket();
        let to = server.local_addr().expect("it is bound");
        let shell = Command::new("sh")
            .args(["-c", "ulimit -n 40; exec \"$@\"", "sh"])
            .args([env!("CARGO_BIN_EXE_kneepoint"), "relay", "--stats", "off"])
            .args(["--listen", "127.0.0.1:0", "--to", &to.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let (child, lines, address) = introduced(shell.expect("there is a shell"));
        for _ in 0..100 {
            socket().send_to(b"once", address).expect("it is sent");
            server.recv_from(&mut [0; 100]).expect("it arrives");
        }
        let summary = end(child, lines, "-TERM");
        assert!(summary.contains("clients: 100\n"), "{summary}");
        assert!(!summary.contains("not admitted"), "{summary}");
    }

    /// Statistics that nobody reads fill a pipe.
    #[test]
    fn it_ends_though_nobody_reads_stderr() {
        let (client, server) = (socket(), socket());
        let to = server.local_addr().expect("it is bound").to_string();
        let (mut said, says) = io::pipe().expect("there is a pipe");
        let arguments = format!("relay --listen 127.0.0.1:0 --to {to} --stats 1ms");
        let mut child = kneepoint(anywhere(), &arguments);
        let stderr = says.try_clone().expect("it can be copied");
        let child = child.stdout(Stdio::piped()).stderr(stderr).spawn();
        let child = child.expect("the command starts");
        let mut first = vec![0; 200];
        let length = said.read(&mut first).expect("it says something");
        first.truncate(length);
        let first = String::from_utf8(first).expect("it is UTF-8");
        let address = first.split(' ').nth(1).expect("it has an address");
        // More than the pipe holds.
        let filler = thread::spawn(move || (&says).write_all(&[0; 1 << 20]));
        for _ in 0..1000 {
            client.send_to(b"there", address).expect("it is sent");
            server.recv_from(&mut [0; 100]).expect("it arrives");
        }
        let id = child.id().to_string();
        let kill = Command::new("kill").args(["-TERM", &id]).status();
        assert!(kill.expect("there is kill").success());
        let (summary, success) = result(child);
        drop(said);
        let filled = filler.join().expect("it does not panic");
        assert!(filled.is_err(), "the pipe was not full");
        assert!(success, "{summary}");
        assert!(summary.contains("up: 1000 packets received"), "{summary}");
    }

    #[test]
    fn the_directions_may_differ() {
        let (client, server) = (socket(), socket());
        let to = server.local_addr().expect("it is bound").to_string();
        let name = "directions.log";
        let (child, mut lines, address) = start(&format!(
            "--to {to} --loss 1 --up-loss 0 --delay 1ms --up-delay 3ms --log {name} --log-format csv --stats 20ms"
        ));
        client.send_to(b"there", address).expect("it is sent");
        let (_, proxy) = server.recv_from(&mut [0; 100]).expect("it arrives");
        server.send_to(b"back", proxy).expect("it is sent");
        assert!(lines.any(|line| line.contains(" 1 dropped")));
        let summary = end(child, lines, "-TERM");
        assert!(summary.contains("up: dropped: none\n"), "{summary}");
        assert!(summary.contains("down: dropped: 1 loss\n"), "{summary}");

        let up = log(name, "up");
        let packet = up.lines().nth(1).expect("there is one");
        let columns: Vec<&str> = packet.split(',').collect();
        let [departure, delivery] =
            [6, 7].map(|place| columns[place].parse::<f64>().expect("it is a time"));
        assert!((delivery - departure - 3.0).abs() < 1e-6, "{up}");
        let down = log(name, "down");
        assert!(down.contains(",loss,"), "{down}");
    }
}
