//! Networks described in TOML.

use kneepoint_emulator::link::{
    Aggregation, CoDel, Delay, DelayStep, FqCoDel, Impairments, Interval, Jitter, Limit,
    LinkConfig, Loss, Pie, Policer, Queue, RateStep, Red, Reordering, Shaper, StepMark,
};
use kneepoint_emulator::network::{Network, Topology};

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

/// One link of the text, whose keys are these.
fn link(keys: &str) -> LinkConfig {
    let text = format!("[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\n{keys}");
    let (topology, seed) = Topology::parse(&text, "l.toml", &folder()).unwrap();
    assert_eq!(seed, None);
    let link = topology.link_named("forward").unwrap();
    topology.config(link).unwrap().clone()
}

#[test]
fn every_stage_has_its_keys() {
    let line = LinkConfig::constant(1_000_000);
    let shaper = |keys| link(keys).shaper;
    assert_eq!(link("rate_mbps = 8.0"), line);
    assert_eq!(shaper("unlimited = true"), Shaper::Unlimited);
    let step = |millis, bytes_per_second| RateStep {
        from: ms(millis),
        bytes_per_second,
    };
    let steps = "rate_steps = [{ at_ms = 0.0, rate_mbps = 8.0 }, { at_ms = 5.0, rate_mbps = 0.0 }, { at_ms = 6.0, rate_mbps = 4.0 }]";
    let expected = vec![step(0, 1_000_000), step(5, 0), step(6, 500_000)];
    assert_eq!(shaper(steps), Shaper::Schedule(expected));
    assert_eq!(
        shaper("token_bucket = { rate_mbps = 8.0, burst_bytes = 7, peak_mbps = 16.0 }"),
        Shaper::TokenBucket {
            bytes_per_second: 1_000_000,
            burst: 7,
            peak: Some(2_000_000)
        }
    );

    let queue = |keys: &str| link(&format!("rate_mbps = 8.0\n{keys}")).queue;
    assert_eq!(
        queue("queue_ms = 5.0\nqueue_bytes = 9"),
        Queue::DropTail(Limit {
            bytes: Some(9),
            packets: None,
            time: Some(ms(5))
        })
    );
    assert_eq!(
        queue("queue = \"drop-head\"\nqueue_packets = 9"),
        Queue::DropHead(Limit::packets(9))
    );
    let codel = CoDel {
        target: ms(1),
        interval: ms(20),
        mtu: 9000,
        limit: None,
        ecn: true,
    };
    let keys = "ecn = true\ncodel = { target_ms = 1.0, interval_ms = 20.0, mtu_bytes = 9000 }";
    let codel_queue = queue(&format!("queue = \"codel\"\n{keys}"));
    assert_eq!(codel_queue, Queue::CoDel(codel));
    let fair = queue(&format!(
        "queue = \"fq-codel\"\nfq_codel = {{ quantum_bytes = 300, flows = 16 }}\n{keys}"
    ));
    assert_eq!(
        fair,
        Queue::FqCoDel(FqCoDel {
            codel: CoDel {
                limit: Some(Limit::packets(10_240)),
                ..codel
            },
            quantum: 300,
            flows: 16,
        })
    );
    assert_eq!(
        queue(
            "queue = \"pie\"\npie = { target_ms = 9.0, derandomized = true, ecn_threshold = 0.5 }"
        ),
        Queue::Pie(Pie {
            target: ms(9),
            derandomized: true,
            ecn_threshold: 0.5,
            ..Pie::default()
        })
    );
    assert_eq!(
        queue("queue = \"red\"\nqueue_bytes = 120000\necn = true"),
        Queue::Red(Red {
            min: 10_000,
            max: 30_000,
            ecn: true,
            ..Red::within(120_000)
        })
    );
    assert_eq!(
        queue(
            "queue = \"red\"\nred = { min_bytes = 5, max_bytes = 15, max_probability = 0.5, weight = 1.0, packet_ms = 2.0 }"
        ),
        Queue::Red(Red {
            min: 5,
            max: 15,
            max_probability: 0.5,
            weight: 1.0,
            packet_time: ms(2),
            limit: None,
            ecn: false,
        })
    );
    assert_eq!(
        queue("queue = \"step-mark\"\nstep_mark = { ms = 1.0, packets = 7, drop_not_ect = true }"),
        Queue::StepMark(StepMark {
            threshold: Limit {
                bytes: None,
                packets: Some(7),
                time: Some(ms(1))
            },
            drop_not_ect: true,
            limit: None,
        })
    );

    let changed = |keys: &str| link(&format!("rate_mbps = 8.0\n{keys}"));
    let delay = |keys: &str| changed(keys).delay;
    let steps = vec![DelayStep {
        from: ms(0),
        delay: ms(3),
    }];
    assert_eq!(
        delay("delay_steps = [{ at_ms = 0.0, delay_ms = 3.0 }]"),
        Delay::Steps {
            steps,
            reordering: false
        }
    );
    let jittered = delay("delay_distribution_ms = { uniform = { from = 3.0, to = 4.0 } }");
    assert_eq!(
        jittered,
        Delay::Jittered {
            jitter: Jitter::Uniform {
                from: ms(3),
                to: ms(4)
            },
            reordering: false
        }
    );
    assert_eq!(jittered.min(), ms(3));
    let normal = delay(
        "delay_distribution_ms = { normal = { mean = 9.0, deviation = 2.0 } }\novertaking = true",
    );
    assert_eq!(
        normal,
        Delay::Jittered {
            jitter: Jitter::Normal {
                mean: ms(9),
                deviation: ms(2)
            },
            reordering: true
        }
    );
    assert_eq!(normal.min(), ms(3));
    let wifi = delay("delay_distribution_ms = { wifi = { from = 3.0, mean = 7.0 } }");
    assert_eq!(
        wifi,
        Delay::Jittered {
            jitter: Jitter::Wifi {
                from: ms(3),
                mean: ms(7)
            },
            reordering: false
        }
    );
    assert_eq!(wifi.min(), ms(3));

    let loss = |keys: &str| changed(keys).loss;
    let chain = Loss::GilbertElliott {
        p: 0.1,
        r: 0.5,
        good: 0.0,
        bad: 1.0,
    };
    assert_eq!(loss("gilbert_elliott = { p = 0.1, r = 0.5 }"), chain);
    let bursts = Loss::Burst {
        every: 9,
        length: 2,
    };
    assert_eq!(loss("loss_bursts = { every = 9, length = 2 }"), bursts);
    assert_eq!(loss("lost_packets = [1, 5]"), Loss::Packets(vec![1, 5]));
    let interval = Interval {
        from: ms(1),
        to: ms(2),
    };
    let intervals = loss("loss_intervals_ms = [[1.0, 2.0]]");
    assert_eq!(intervals, Loss::Intervals(vec![interval]));

    let impaired = changed(
        "mtu_bytes = 1300\nblackouts_ms = [[1.0, 2.0]]\nduplication = 0.1\ncorruption = 0.2\n\
         reordering = { probability = 0.3, delay_ms = 4.0 }",
    );
    assert_eq!(
        impaired.impairments,
        Impairments {
            mtu: Some(1300),
            blackouts: vec![interval],
            duplication: 0.1,
            corruption: 0.2,
            reordering: Some(Reordering {
                probability: 0.3,
                delay: ms(4)
            }),
        }
    );
    let policed = changed("policer = { rate_mbps = 8.0, burst_bytes = 3 }").policer;
    assert_eq!(
        policed,
        Some(Policer {
            bytes_per_second: 1_000_000,
            burst: 3
        })
    );
    let batches = changed("aggregation = { interval_ms = 5.0, packets = 8 }").aggregation;
    assert_eq!(
        batches,
        Some(Aggregation {
            interval: ms(5),
            packets: Some(8)
        })
    );
}

#[test]
fn a_way_through_a_file_and_its_two_links() {
    let (topology, seed) = Topology::parse(FILE, "n.toml", &folder()).unwrap();
    assert_eq!(seed, Some(7));
    let up = topology.link_named("up").unwrap();
    assert_eq!(topology.route("a", "b").unwrap(), [up]);
    assert!(topology.route("a", "c").is_err());
    let error = topology.duplex().unwrap_err().to_string();
    assert!(error.ends_with("and not paths"), "{error}");

    let two = |name: &str, more: &str| {
        format!(
            "link = [{{ name = \"forward\", from = \"left\", to = \"right\", rate_mbps = 8.0 }},\n\
             {{ name = \"{name}\", from = \"right\", to = \"left\", unlimited = true }}]\n{more}"
        )
    };
    let duplex = |text: &str| {
        Topology::parse(text, "n.toml", &folder())
            .unwrap()
            .0
            .duplex()
    };
    let links = duplex(&two("reverse", "")).unwrap();
    assert_eq!(links.forward, LinkConfig::constant(1_000_000));
    assert_eq!(links.reverse, LinkConfig::new(Shaper::Unlimited));
    let refused = |text: &str| duplex(text).unwrap_err().to_string();
    assert!(refused(&two("back", "")).ends_with("and not only one"));
    let hosts = two("reverse", "hosts = { left = \"phone\" }");
    assert!(refused(&hosts).ends_with("and not models of hosts"));
    // The ends of a path that nobody has attached yet.
    let path = two(
        "reverse",
        "[[path]]\nfrom = \"10.0.0.1:1\"\nto = \"10.0.0.2:1\"\nlinks = [\"forward\"]",
    );
    assert!(refused(&path).ends_with("and not paths"));
}

#[test]
fn bad_files_are_refused_in_one_line() {
    // What is changed, to what, and parts of the refusal.
    let cases = r#"
seed = 7 => seed = "x" => n.toml:2: | "x"
seed = 7 =>  => n.toml: | seed
delay_ms => dealy_ms => n.toml:9: | dealy_ms
delay_ms = 10.0 => delay_ms = -1.0 => n.toml:9: delay_ms -1
rate_mbps = 8.0 =>  => n.toml:4: link up: it needs one of rate_mbps, trace
rate_mbps = 8.0 => rate_mbps = 0.0 => n.toml:8: rate_mbps 0
rate_mbps = 8.0 => rate_mbps = 8.0\nunlimited = true => n.toml:9: link up: rate_mbps and unlimited exclude each other
queue_packets = 20 => ecn = true => n.toml:10: link up | ecn
queue_packets = 20 => queue = "drop-tail" => n.toml:10: link up | limit
queue_packets = 20 => queue_packets = 0 => n.toml:10: link up | positive
queue_packets = 20 => queue = "red" => n.toml:10: link up | queue_bytes
queue_packets = 20 => queue = "step-mark" => n.toml:10: link up | step_mark
queue_packets = 20 => queue = "pie"\ncodel = {} => n.toml:11: link up: codel needs queue = "codel"
queue_packets = 20 => queue = "pie"\npie = { alpha = -1.0 } => n.toml:11: link up: PIE's alpha -1
queue_packets = 20 => loss = 2.0 => n.toml:10: link up | 2
queue_packets = 20 => loss = 0.1\nlost_packets = [2, 1] => n.toml:11: link up: loss and lost_packets exclude each other
queue_packets = 20 => lost_packets = [2, 1] => n.toml:10: link up: lost packets: entry 1
queue_packets = 20 => gilbert_elliott = { p = 2.0, r = 0.1 } => n.toml:10: link up | 2
queue_packets = 20 => loss_bursts = { every = 2, length = 3 } => n.toml:10: link up | 3
queue_packets = 20 => loss_intervals_ms = [[2.0, 1.0]] => n.toml:10: link up: losses: interval 0 is empty: 0.002000 s to 0.001000 s
queue_packets = 20 => blackouts_ms = [[1.0, 1.0]] => n.toml:10: link up: blackouts: interval 0 is empty: 0.001000 s to 0.001000 s
queue_packets = 20 => blackouts_ms = [[0.0, 1.0], [0.5, 2.0]] => n.toml:10: link up: blackouts: entry 1
queue_packets = 20 => duplication = -0.5 => n.toml:10: link up: duplication probability -0.5
queue_packets = 20 => corruption = 5.0 => n.toml:10: link up: corruption probability 5
queue_packets = 20 => reordering = { probability = 2.0, delay_ms = 1.0 } => n.toml:10: link up: reordering probability 2
queue_packets = 20 => reordering = { probability = 0.2, delay_ms = -1.0 } => n.toml:10: reordering.delay_ms -1
queue_packets = 20 => mtu_bytes = 0 => n.toml:10: link up: the MTU
queue_packets = 20 => policer = { rate_mbps = 1.0, burst_bytes = 0 } => n.toml:10: link up | burst
queue_packets = 20 => aggregation = { interval_ms = 0.0 } => n.toml:10: link up | interval
queue_packets = 20 => overtaking = true => n.toml:10: link up: overtaking
delay_ms = 10.0 => delay_steps = [{ at_ms = 1.0, delay_ms = 2.0 }] => n.toml:9: link up | time 0
delay_ms = 10.0 => delay_distribution_ms = { uniform = { from = 2.0, to = 1.0 } } => n.toml:9: link up: jitter
delay_ms = 10.0 => delay_distribution_ms = { normal = { mean = 2.0, deviation = 1.0 } } => n.toml:9: link up | third
delay_ms = 10.0 => delay_distribution_ms = { zipf = { mean = 2.0 } } => n.toml:9: | zipf
rate_mbps = 8.0 => rate_steps = [{ at_ms = 0.0, rate_mbps = 0.0 }] => n.toml:8: link up | rate 0
rate_mbps = 8.0 => token_bucket = { rate_mbps = 8.0, burst_bytes = 9, peak_mbps = 1.0 } => n.toml:8: link up | peak rate
link.trace => no.trace => n.toml:17: | no.trace
fq-codel => fast => n.toml:18: | fast
node = "b" => node = "c" => n.toml:27: | no node c
10.0.0.2:4433"\nnode => 10.0.0.2"\nnode => n.toml: | 10.0.0.2
["up"] => ["left"] => n.toml:32: | no link left
["up"] => ["down"] => n.toml:32: | broken at link down
["up"] => ['down'] => n.toml:32: | broken at link down
["up"] => [\n"up",\n"down",\n'up'] => n.toml:35: | takes link up twice, and may take each link once
["up"] => [] => n.toml:32: | from 10.0.0.1:4433 to 10.0.0.2:4433 has no links
name = "down" => name = 'up' => n.toml:14: | two links up
to = "b" => to = 'a' => n.toml:7: | link up leads from a to itself
address = "10.0.0.2:4433" => address = '10.0.0.1:4433' => n.toml:26: | two hosts 10.0.0.1:4433
address = "10.0.0.2:4433" => address = "10.0.0.2:443" => n.toml:31: | 10.0.0.2:4433 is not attached
to = "10.0.0.2:4433"\npattern => to = '10.0.0.9:3'\npattern => n.toml:36: | 10.0.0.9:3 is not attached
inside = "10.0.0.1:4433" => inside = '10.0.0.9:2' => n.toml:46: | 10.0.0.9:2 is not attached
on_ms = 10.0 =>  => n.toml:34: | sending time 0
on_ms = 10.0 => on_ms = 0.0 => n.toml:40: | sending time 0
payload_bytes = 1000 => payload_bytes = 0 => n.toml:39: | payload 0
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
    // Each has 65,535 queues of its own.
    let fair: String = (0..9)
        .map(|index| link(index) + "queue = \"fq-codel\"\nfq_codel = { flows = 65535 }\n")
        .collect();
    let error = parse(&format!("seed = 1\n{fair}")).unwrap_err();
    let reason = "n.toml:30: the number of fq-codel's queues 327675 is not at most 262144 in all";
    assert_eq!(error, reason);
    let error = many(257).unwrap_err();
    assert!(error.contains("the number of links 257"), "{error}");
    let error = many(20_000).unwrap_err();
    assert!(error.contains("larger than 614400 bytes"), "{error}");
    let error = Topology::load("no/such.toml").unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read network no/such.toml: "),
        "{error}"
    );
    // A path of before, with the same ends and a link of the broken one.
    let paths = FILE.replace(
        "[[traffic]]",
        "[[path]]\nfrom = \"10.0.0.1:4433\"\nto = \"10.0.0.2:4433\"\nat_ms = 1.0\nlinks = [\"up\", \"down\"]\n[[traffic]]",
    );
    let error = parse(&paths).unwrap_err();
    assert!(error.starts_with("n.toml:38: "), "{error}");
    let folder = std::env::temp_dir().join(format!("kneepoint-utf8-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("latin.toml");
    std::fs::write(&file, b"seed = 1\n# fa\xe7ade\n").unwrap();
    let error = Topology::load(&file).unwrap_err().to_string();
    assert!(
        error.ends_with("latin.toml: line 2 is not UTF-8, at the byte 0xe7"),
        "{error}"
    );
    std::fs::remove_dir_all(folder).unwrap();
    let error = Network::load("no/such.toml").unwrap_err().to_string();
    assert!(
        error.starts_with("cannot read network no/such.toml: "),
        "{error}"
    );
}
