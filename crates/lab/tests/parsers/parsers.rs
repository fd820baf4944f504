//! Every parser of a file or a text, with texts that it reads.

use std::path::Path;

use kneepoint_controllers::ControllerSpec;
use kneepoint_emulator::generate::Profile;
use kneepoint_emulator::host::HostConfig;
use kneepoint_emulator::log_format::{Log, LogFormat};
use kneepoint_emulator::network::{Network, Topology};
use kneepoint_emulator::trace::Trace;
use kneepoint_lab::workload::Workload;
use kneepoint_lab::{controllers, rates, units};

/// A parser, and texts from which its inputs are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Parser {
    pub(crate) name: &'static str,
    pub(crate) seeds: &'static [&'static str],
    /// Beginnings of texts, and what can follow any number of times.
    pub(crate) parts: &'static [(&'static str, &'static str)],
    /// Reads a text, and uses what was read as far as that needs no time of its own.
    pub(crate) parse: fn(&[u8]),
}

pub(crate) const ALL: [Parser; 8] = [
    Parser {
        name: "traces",
        seeds: &["1\n2\n2\n5\n", "0\n0\r\n7\r\n1000", "4000000\n4000001\n"],
        parts: &[("", "1\n"), ("", "5\r\n")],
        parse: |text| {
            if let Ok(trace) = Trace::parse(text, "t") {
                assert!(trace.mean_rate() > 0.0);
                assert!(
                    trace
                        .opportunities()
                        .nth(1000)
                        .is_none_or(|time| time.0 > 0)
                );
            }
        },
    },
    Parser {
        name: "rates (CSV)",
        seeds: &[
            "time_s,rate_mbps\n0,10\n1,20\n2.5,0.5\n",
            "id, time_ms, rate_bytes_per_s\nx, 5, 150400\ny, 20, 300800\n",
            "time_s,rate_mbps\n\"0\",\"100\"\n30,100\n",
        ],
        parts: &[
            ("time_s,rate_mbps\n", "0,1\n"),
            ("time_s,rate_mbps\n0,3200\n", "60,0\n"),
            ("", "a,"),
            ("time_s,rate_mbps\n", "\""),
        ],
        parse: |text| {
            if let Ok(trace) = rates::read(text, "t") {
                assert!(trace.millis().is_sorted());
            }
        },
    },
    Parser {
        name: "logs",
        seeds: &[
            "# base timestamp: 0\n2 # 1504\n3 + 1232\n4 # 1504\n4 - 1232 1\n",
            "# mahimahi\n# base timestamp: 100\n101 + 1504\n102 d 1 1504\n103 # 1504 rest\n103 - 1504 2\n",
        ],
        parts: &[
            ("# base timestamp: 0\n", "2 + 1\n"),
            ("# base timestamp: 0\n1 # 1\n", "#\n"),
            ("# base timestamp: 0\n", "1 - 1 1 x\n"),
        ],
        parse: |text| {
            if let Ok(log) = Log::parse(text, "t") {
                let statistics = log.statistics();
                assert!(statistics.utilization().is_none_or(|share| share >= 0.0));
            }
        },
    },
    Parser {
        name: "networks (TOML)",
        seeds: &[
            "seed = 1\n[[link]]\nname = \"l0\"\nfrom = \"n0\"\nto = \"m0\"\nrate_mbps = 10.0\nqueue = \"fq-codel\"\n",
            "[[link]]\nname = \"l7\"\nfrom = \"n1\"\nto = \"n2\"\nrate_mbps = 10.0\nqueue_packets = 100\ndelay_ms = 20.0\nloss = 0.01\n",
            "seed = 1\nlink = [{ name = \"up\", from = \"home\", to = \"office\", rate_mbps = 10.0, delay_ms = 20.0, mtu_bytes = 1500 },\n\
             { name = \"down\", from = \"office\", to = \"home\", trace = \"none.trace\", queue = \"codel\", ecn = true }]\n\
             host = [{ node = \"home\", address = \"10.0.0.1:5000\" }, { node = \"office\", address = \"10.0.1.1:4433\" }]\n\
             rebind = [{ at_ms = 500.0, inside = \"10.0.0.1:5000\", outside = \"10.0.0.1:6000\" }]\n\
             hosts = { all = \"ideal\", home = \"phone\" }\n",
            "seed = 1\n[[link]]\nname = \"l0\"\nfrom = \"a\"\nto = \"b\"\nrate_mbps = 10.0\n[[host]]\nnode = \"a\"\naddress = \"10.0.0.1:1\"\n\
             [[host]]\nnode = \"b\"\naddress = \"10.0.0.2:1\"\n[[path]]\nfrom = \"10.0.0.1:1\"\nto = \"10.0.0.2:1\"\nlinks = [\"l0\"]\n\
             [[traffic]]\nfrom = \"10.0.0.1:1\"\nto = \"10.0.0.2:1\"\npattern = \"on-off\"\nrate_mbps = 1.0\npayload_bytes = 1200\non_ms = 10.0\noff_ms = 5.0\n",
            "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_steps = [{ at_ms = 0.0, rate_mbps = 2.0 }, { at_ms = 9.0, rate_mbps = 1.0 }]\n\
             queue = \"red\"\nqueue_bytes = 9000\nred = { min_bytes = 5, max_bytes = 15, weight = 0.5 }\ngilbert_elliott = { p = 0.1, r = 0.5 }\n\
             delay_distribution_ms = { normal = { mean = 9.0, deviation = 1.0 } }\novertaking = true\nblackouts_ms = [[1.0, 2.0]]\n\
             reordering = { probability = 0.5, delay_ms = 3.0 }\npolicer = { rate_mbps = 1.0, burst_bytes = 9 }\n\
             aggregation = { interval_ms = 1.0, packets = 2 }\n",
            "seed = 1\n[[link]]\nname = \"l0\"\nfrom = \"a\"\nto = \"b\"\ntoken_bucket = { rate_mbps = 2.0, burst_bytes = 9, peak_mbps = 3.0 }\n\
             queue = \"step-mark\"\nstep_mark = { ms = 1.0, packets = 3 }\nlost_packets = [1, 2]\ndelay_steps = [{ at_ms = 0.0, delay_ms = 2.0 }]\n\
             [[link]]\nname = \"l1\"\nfrom = \"b\"\nto = \"a\"\nunlimited = true\nqueue = \"pie\"\npie = { alpha = 0.5 }\nloss_intervals_ms = [[1.0, 2.0]]\n",
        ],
        parts: &[
            (
                "seed = 1\n",
                "[[link]]\nname = \"l0\"\nfrom = \"n0\"\nto = \"m\"\nrate_mbps = 1.0\n",
            ),
            (
                "seed = 1\n",
                "[[link]]\nname = \"l0\"\nfrom = \"n\"\nto = \"m\"\nrate_mbps = 1.0\nqueue = \"fq-codel\"\n",
            ),
            (
                "seed = 1\n",
                "[[link]]\nname = \"l0\"\nfrom = \"a\"\nto = \"b\"\nrate_mbps = 1.0\n[[host]]\nnode = \"a\"\naddress = \"10.0.0.1:0\"\n",
            ),
            (
                NETWORK,
                "[[path]]\nfrom = \"10.0.0.1:1\"\nto = \"10.0.0.2:1\"\nlinks = [\"up\"]\n",
            ),
            (
                NETWORK,
                "[[rebind]]\nat_ms = 5.0\ninside = \"10.0.0.1:1\"\noutside = \"10.0.0.3:0\"\n",
            ),
            (
                NETWORK,
                "[[traffic]]\nfrom = \"10.0.0.1:1\"\nto = \"10.0.0.2:1\"\npattern = \"poisson\"\nrate_mbps = 1.0\npayload_bytes = 1\n",
            ),
            (
                NETWORK,
                "[[path]]\nfrom = \"10.0.0.1:1\"\nto = \"10.0.0.2:1\"\nlinks = [\"up\"]\n[[link]]\nname = \"l0\"\nfrom = \"a\"\nto = \"b\"\nrate_mbps = 1.0\n",
            ),
            (
                "seed = 1\n",
                "[[link]]\nname = \"l0\"\nfrom = \"n\"\nto = \"m\"\nrate_mbps = 1.0\nqueue = \"fq-codel\"\nfq_codel = { flows = 65535 }\n",
            ),
            (
                "seed = 1\n[[link]]\nname = \"l0\"\nfrom = \"n\"\nto = \"m\"\nrate_mbps = 1.0\nlost_packets = [0",
                ", 1",
            ),
            (
                "seed = 1\n[[link]]\nname = \"l0\"\nfrom = \"n\"\nto = \"m\"\nrate_steps = [{ at_ms = 0.0, rate_mbps = 1.0 }",
                ", { at_ms = 1.0, rate_mbps = 1.0 }",
            ),
            ("seed = 1\nlink = ", "["),
            ("seed", ".a"),
            ("", "[a.b0]\n"),
            ("", "a0=1\n"),
            ("seed = \"", "\\\""),
            ("hosts = { a = \"ideal\"", ", n0 = \"busy\""),
        ],
        parse: |text| {
            let text = String::from_utf8_lossy(text);
            let folder = Path::new("no-such-folder");
            if let Ok(network) = Network::parse(&text, "t", folder) {
                assert!(network.links().count() > 0);
                assert!(Topology::parse(&text, "t", folder).is_ok());
            } else if let Ok((topology, _)) = Topology::parse(&text, "t", folder) {
                _ = topology.duplex();
            }
        },
    },
    Parser {
        name: "hosts (TOML)",
        seeds: &[
            "timer_granularity_us = 1000.0\n[receive]\nwakeup_us = { log-normal = { median = 20.0, sigma = 0.7, max = 3000.0 } }\nbatch_us = 50.0\n",
            "[send]\nburst_datagrams = 10\npause_us = { quantiles = [1.0, 2.0, 30.0] }\nbuffer_bytes = 200000\n[processor]\nreceive_datagram_us = 1.5\n\
             others = { gap_us = { exponential = { mean = 900.0, max = 9000.0 } }, slice_us = { pareto = { min = 1.0, shape = 1.5, max = 9.0 } } }\n",
        ],
        parts: &[
            ("send.pause_us = { quantiles = [1.0", ", 1.0"),
            ("", "[send]\n"),
            ("receive", ".a"),
        ],
        parse: |text| {
            let text = String::from_utf8_lossy(text);
            if let Ok(host) = HostConfig::from_toml("t", &text) {
                let again = HostConfig::from_toml("t", &host.to_toml());
                assert_eq!(again.ok(), Some(host));
            }
        },
    },
    Parser {
        name: "controllers",
        seeds: &[
            "knee",
            "bbr:tuned",
            "bbr3:core.min_rtt_window=20s",
            "bbr-s:published:filter.skip.threshold=4",
            "cubic:hystart=false",
            "noq:bbr3-s",
            "quinn-cubic",
            "noq-bbr3",
        ],
        parts: &[
            ("bbr3", ":core.min_rtt_window=20s"),
            ("bbr3:core", ".a"),
            ("", ":"),
        ],
        parse: |text| {
            let text = String::from_utf8_lossy(text);
            if let Ok(spec) = text.parse::<ControllerSpec>() {
                assert_eq!(spec.to_string().parse(), Ok(spec));
            }
            let _ = controllers::candidate(&text, 1);
        },
    },
    Parser {
        name: "units",
        seeds: &[
            "10Mbps",
            "2.5Gb/s",
            "40ms",
            "1.5min",
            "3MB",
            "100p",
            "inf",
            "1.5MiB",
            "25%",
            "0.01",
            "lte-driving-fast",
            "mahimahi",
        ],
        parts: &[("1", "0"), ("1.", "0"), ("", " ")],
        parse: |text| {
            let text = String::from_utf8_lossy(text);
            let _ = (text.parse::<Profile>(), text.parse::<LogFormat>());
            let _ = (units::parse_moment(&text), units::parse_probability(&text));
            if let Ok(size) = units::parse_size(&text) {
                assert!(size > 0);
            }
            if let Ok(queue) = text.parse::<units::QueueSize>() {
                assert!(!queue.to_string().is_empty());
            }
            if let Ok(rate) = text.parse::<units::Rate>() {
                assert!(rate.bits_per_second() > 0);
            }
            if let Ok(time) = units::parse_time(&text) {
                assert!(!time.is_zero());
            }
        },
    },
    Parser {
        name: "workloads",
        seeds: &[
            "bulk",
            "rpc:100kB@100msx5",
            "media:4Mbps,i=100kB@2s,fps=60,deadline=1s",
            "on-off:2s/1s",
        ],
        parts: &[("media:4Mbps", ",fps=60"), ("rpc:", "1"), ("", ":")],
        parse: |text| {
            if let Ok(workload) = String::from_utf8_lossy(text).parse::<Workload>() {
                assert!(workload.to_string().parse::<Workload>().is_ok());
            }
        },
    },
];

/// A network to which more can be added.
const NETWORK: &str = r#"seed = 1
[[link]]
name = "up"
from = "a"
to = "b"
rate_mbps = 1.0
[[host]]
node = "a"
address = "10.0.0.1:1"
[[host]]
node = "b"
address = "10.0.0.2:1"
"#;
