//! The contract of `kneepoint relay`, checked on the built command.

mod command;

use command::{anywhere, directory, kneepoint, refused};

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
        (
            "--listen 127.0.0.1 --to 127.0.0.1:1",
            "write it like 127.0.0.1:4433",
        ),
        (
            "--listen 127.0.0.1:0 --to localhost:4434",
            "write it like 127.0.0.1:4433",
        ),
        ("--down 10", "write it like 10Mbps"),
        ("--queue 1kB", "1252 bytes"),
        ("--up-queue 1kB", "1252 bytes"),
        ("--up no-such-trace", "no-such-trace"),
        ("--down 0Mbps", "out of range"),
        ("--loss 1.5", "--loss"),
        ("--down-loss 1.5", "--down-loss"),
        ("--up-delay 20", "--up-delay"),
        ("--clients 0", "--clients"),
        ("--log missing-directory/log", "--log"),
        ("--log-format pcap --log log", "pcap"),
        ("--pcap missing-directory/file", "--pcap"),
        ("--json missing-directory/file", "--json"),
        ("--duration 5", "--duration"),
        ("--aqm cake", "--aqm"),
        ("--aqm red --down-queue inf", "--aqm"),
        ("--flip", "--link"),
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
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::Duration;

    use super::{anywhere, directory, kneepoint};

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
        // The first line may come before the client does.
        assert!(lines.any(|line| line.contains("clients 1; up ")));

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

    #[test]
    #[cfg(target_os = "linux")]
    fn a_capture_that_cannot_be_written_is_reported() {
        let (client, server) = (socket(), socket());
        let capture = anywhere().join("full.pcap");
        _ = fs::remove_file(&capture);
        std::os::unix::fs::symlink("/dev/full", capture).expect("it can be linked");
        let to = server.local_addr().expect("it is bound").to_string();
        let (child, mut lines, address) =
            start(&format!("--to {to} --pcap full.pcap --stats 20ms"));
        // More than a buffer of the capture holds.
        for _ in 0..500 {
            client.send_to(b"there", address).expect("it is sent");
            server.recv_from(&mut [0; 100]).expect("it arrives");
        }
        let reason = "kneepoint: cannot write the capture full.pcap: No space left";
        let told = lines.find(|line| line.starts_with(reason));
        let told = told.expect("it is told of");
        assert!(told.ends_with("the relay goes on without"), "{told}");
        let id = child.id().to_string();
        let kill = Command::new("kill").args(["-TERM", &id]).status();
        assert!(kill.expect("there is kill").success());
        let last = lines.last().expect("it says why it failed");
        assert!(last.starts_with(reason), "{last}");
        let (summary, success) = result(child);
        assert!(!success);
        assert!(summary.contains("left out of the capture: "), "{summary}");
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
        // All at once, so that no two have the same port.
        let clients: Vec<UdpSocket> = (0..100).map(|_| socket()).collect();
        for client in &clients {
            client.send_to(b"once", address).expect("it is sent");
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

    /// A relay with a client: the client's script has the relay's address.
    fn with_client(name: &str, arguments: &str, script: &str) -> std::process::Output {
        let directory = directory(name, &[("client.sh", script)]);
        let arguments = format!("relay --listen 127.0.0.1:0 {arguments} -- sh client.sh a b");
        kneepoint(&directory, &arguments)
            .output()
            .expect("the command starts")
    }

    #[test]
    fn it_ends_with_its_client_and_its_exit_code() {
        let script = "test $# = 2 && expr \"$KNEEPOINT_RELAY\" : '127.0.0.1:[1-9]' >&2 || exit 9\necho here\n";
        let output = with_client("client", "--to 127.0.0.1:9", script);
        let summary = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(summary.starts_with("here\n"), "{summary}");
        assert!(summary.contains("up: 0 packets received"), "{summary}");

        let output = with_client("failing-client", "--to 127.0.0.1:9", "exit 7\n");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(7), "{errors}");
        assert!(errors.contains("'sh' failed"), "{errors}");
        // What has happened until then is told all the same.
        assert!(String::from_utf8_lossy(&output.stdout).contains("up: 0 packets received"));

        let output = with_client("killed-client", "--to 127.0.0.1:9", "kill -KILL $$\n");
        assert_eq!(output.status.code(), Some(128 + 9), "{output:?}");
        let slow = "exec sleep 60\n";
        let output = with_client("slow-client", "--to 127.0.0.1:9 --duration 200ms", slow);
        assert_eq!(output.status.code(), Some(124), "{output:?}");
    }

    #[test]
    fn what_its_client_has_started_ends_with_it() {
        let script = "(sleep 5; echo late) & wait\n";
        let output = with_client(
            "starting-client",
            "--to 127.0.0.1:9 --duration 200ms",
            script,
        );
        assert_eq!(output.status.code(), Some(124), "{output:?}");
        // The output has an end only once all who might write to it are gone.
        let summary = String::from_utf8_lossy(&output.stdout);
        assert!(!summary.contains("late"), "{summary}");
    }

    #[test]
    fn a_client_that_is_not_there_is_blamed() {
        let arguments = "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 -- no-such-client";
        let output = kneepoint(anywhere(), arguments)
            .output()
            .expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("cannot start 'no-such-client'"), "{errors}");
    }

    /// Nobody can listen at an address that is taken, and a client that is not there cannot be started.
    #[test]
    fn old_files_stay_if_it_does_not_start() {
        let old = ["end.json", "log.up", "log.down", "out.pcap"];
        let directory = directory("not-started", &old.map(|name| (name, "old")));
        let taken = socket();
        let taken = taken.local_addr().expect("it is bound").to_string();
        for (listen, command) in [(&*taken, ""), ("127.0.0.1:0", "-- no-such-client")] {
            let arguments = format!(
                "relay --listen {listen} --to 127.0.0.1:9 --json end.json --log log --pcap out.pcap {command}"
            );
            let output = kneepoint(&directory, &arguments).output();
            let output = output.expect("it starts");
            assert_eq!(output.status.code(), Some(2), "{output:?}");
            for name in old {
                let text = fs::read_to_string(directory.join(name)).expect("it is there");
                assert_eq!(text, "old", "{name}, {arguments}");
            }
        }
        let files = fs::read_dir(directory).expect("it is there").count();
        assert_eq!(files, old.len());
    }

    #[test]
    fn its_time_ends_it_and_a_file_has_the_summary() {
        let directory = directory("timed", &[]);
        let arguments = "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --duration 300ms --stats off --json end.json";
        let output = kneepoint(&directory, arguments)
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(directory.join("end.json")).expect("there is a file");
        let summary: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let elapsed = summary["elapsed_s"].as_f64().expect("a number");
        assert!((0.3..30.0).contains(&elapsed), "{elapsed}");
        assert_eq!(summary["down"]["drops"]["queue_full"], 0);
    }

    /// Through the link of a file, which loses all that goes down, and into a capture and a summary.
    #[test]
    fn a_link_file_a_capture_and_a_summary() {
        let (client, server) = (socket(), socket());
        let link = |name: &str, from: &str, to: &str, more: &str| {
            format!("[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
        };
        let file = link("forward", "left", "right", "rate_mbps = 10.0\nloss = 1.0")
            + &link(
                "reverse",
                "right",
                "left",
                "unlimited = true\nduplication = 1.0",
            );
        let directory = directory("captured", &[("link.toml", &file)]);
        let to = server.local_addr().expect("it is bound");
        let arguments = format!(
            "relay --listen 127.0.0.1:0 --to {to} --link link.toml --pcap out.pcap --json end.json --stats 20ms"
        );
        let child = kneepoint(&directory, &arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let (child, mut lines, address) = introduced(child.expect("the command starts"));
        client.send_to(b"there", address).expect("it is sent");
        let mut proxy = None;
        for _ in 0..2 {
            let (_, from) = server.recv_from(&mut [0; 100]).expect("it arrives");
            proxy = Some(from);
        }
        let proxy = proxy.expect("it has arrived");
        server.send_to(b"back", proxy).expect("it is sent");
        assert!(lines.any(|line| line.contains(" 1 dropped")));
        let summary = end(child, lines, "-TERM");
        assert!(summary.contains("down: dropped: 1 loss\n"), "{summary}");
        let text = fs::read_to_string(directory.join("end.json")).expect("there is a file");
        let summary: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(summary["up"]["duplicated"], 1, "{text}");
        assert_eq!(summary["down"]["drops"]["loss"], 1, "{text}");
        assert_eq!(summary["uncaptured"], 0, "{text}");
        // The file's header, and the one packet that the client sent: nothing came back to it.
        let capture = fs::read(directory.join("out.pcap")).expect("there is a capture");
        assert_eq!(capture.len(), 24 + 16 + 20 + 8 + 5);
        assert!(capture.ends_with(b"there"));
        let port = client.local_addr().expect("it is bound").port();
        assert_eq!(capture[60..62], port.to_be_bytes());
        assert_eq!(capture[62..64], to.port().to_be_bytes());
    }

    /// Each example has two links for the relay, or is refused with the reason.
    #[test]
    fn every_example_is_a_link_of_the_relay_or_says_why_not() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../links");
        let mut refused = Vec::new();
        for file in fs::read_dir(folder).expect("there is a folder") {
            let file = file.expect("it is one").path();
            let arguments = format!(
                "relay --listen 127.0.0.1:0 --to 127.0.0.1:9 --duration 10ms --link {}",
                file.display()
            );
            let output = kneepoint(anywhere(), &arguments)
                .output()
                .expect("it starts");
            let errors = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => {}
                Some(2) if errors.contains("the relay emulates nothing else") => {
                    let name = file.file_stem().expect("it has a name");
                    refused.push(name.to_string_lossy().into_owned());
                }
                code => panic!("{}: {code:?}: {errors}", file.display()),
            }
        }
        refused.sort();
        let networks = [
            "asymmetric",
            "cross-traffic",
            "parking-lot",
            "phone",
            "rebinding",
            "route-change",
            "swinging-way-back",
        ];
        assert_eq!(refused, networks);
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
