//! Networks described in TOML.

use kneepoint_emulator::network::Network;

use crate::common::{address, folder, ms};

const FILE: &str = r#"
seed = 7

[[link]]
name = "up"
from = "a"
to = "b"
rate_mbps = 8.0
delay_ms = 10.0
queue_packets = 20
overhead_bytes = 0

[[link]]
name = "down"
from = "b"
to = "a"
trace = "link.trace"
queue = "fq-codel"
ecn = true

[[host]]
address = "10.0.0.1:4433"
node = "a"

[[host]]
address = "10.0.0.2:4433"
node = "b"

[[path]]
from = "10.0.0.1:4433"
to = "10.0.0.2:4433"
links = ["up"]

[[traffic]]
from = "10.0.0.1:4433"
to = "10.0.0.2:4433"
pattern = "on-off"
rate_mbps = 4.0
payload_bytes = 1000
on_ms = 10.0
off_ms = 5.0
stop_ms = 100.0

[[rebind]]
at_ms = 50.0
inside = "10.0.0.1:4433"
outside = "10.0.0.9:1"
"#;

fn parse(text: &str) -> Result<Network, String> {
    Network::parse(text, "n.toml", &folder()).map_err(|error| error.to_string())
}

#[test]
fn a_file_is_a_network() {
    let mut network = parse(FILE).unwrap();
    assert_eq!(network.next_event(), Some(ms(0)));
    while let Some(now) = network.next_event() {
        network.poll(now, &mut |_, _| {});
    }
    // Five packets in every 15 ms, of which the last begins at 90.
    assert_eq!(network.received(address(2)).unwrap().packets, 35);
    assert!(network.is_attached("10.0.0.9:1".parse().unwrap()));
    let names: Vec<_> = network.links().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["up", "down"]);
}

#[test]
fn bad_files_are_refused_in_one_line() {
    // What is changed, to what, and parts of the refusal.
    let cases = r#"
seed = 7 => seed = "x" => n.toml:2: | "x"
seed = 7 =>  => n.toml: | seed
delay_ms => dealy_ms => n.toml:9: | dealy_ms
delay_ms = 10.0 => delay_ms = -1.0 => n.toml: delay_ms -1
rate_mbps = 8.0 =>  => n.toml: link up: it needs either rate_mbps or trace
rate_mbps = 8.0 => rate_mbps = 0.0 => n.toml: rate_mbps 0
queue_packets = 20 => ecn = true => link up | ecn
queue_packets = 20 => queue = "drop-tail" => link up | limit
queue_packets = 20 => queue_packets = 0 => link up | positive
queue_packets = 20 => loss = 2.0 => link up | 2
link.trace => no.trace => no.trace
fq-codel => fast => n.toml: | fast
node = "b" => node = "c" => no node c
10.0.0.2:4433"\nnode => 10.0.0.2"\nnode => n.toml: | 10.0.0.2
["up"] => ["left"] => no link left
["up"] => ["down"] => broken at link down
on_ms = 10.0 =>  => sending time 0
seed = 7 => seed = = 7 => n.toml:2:
"#;
    for case in cases.trim().lines() {
        let case = case.replace("\\n", "\n");
        let [find, put, parts] = case.split(" => ").collect::<Vec<_>>()[..] else {
            panic!("{case}");
        };
        assert!(FILE.contains(find), "{find}");
        let error = parse(&FILE.replacen(find, put, 1)).unwrap_err();
        assert_eq!(error.lines().count(), 1, "{error}");
        for part in parts.split(" | ") {
            assert!(error.contains(part), "{part} is missing in: {error}");
        }
    }
    let link = |index| {
        format!("[[link]]\nname = \"{index}\"\nfrom = \"{index}\"\nto = \"end\"\nrate_mbps = 1.0\n")
    };
    let many = |links: u32| {
        parse(&format!(
            "seed = 1\n{}",
            (0..links).map(link).collect::<String>()
        ))
    };
    assert!(many(256).is_ok());
    // Trap: routes from each node to each other one, 25 GB of them for the links that a megabyte describes.
    let error = many(257).unwrap_err();
    assert!(error.contains("the number of links 257"), "{error}");
    let error = many(20_000).unwrap_err();
    assert!(error.contains("larger than 614400 bytes"), "{error}");
    let error = Network::load("no/such.toml").unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read network no/such.toml: "),
        "{error}"
    );
}
