# Prints the runs of "Jitter, batches, applications and bursts", the paths of "Idle time" and of KNEE.md's limits, and those of "Drains of a path that varies": awk -f docs/results/beside-the-suite.awk | sh > runs.jsonl
# It writes the links' files into the folder in which the runs are made.
BEGIN {
    batches(230, 140, 28, "24.15MB")
    batches(50, 140, 28, "5.25MB")
    jitter(230, 40, 15, "6.9MB")
    jitter(50, 150, 50, "5.6MB")
    jitter(23, 85, 30, "1.47MB")
    longer(7, 85, 340, 148750, 20, "rpc:10kB@200ms")
    longer(70, 50, 150, 875000, 30, "rpc:262500B@100ms")
    longer(20, 60, 240, 300000, 20, "media:6Mbps,i=60kB@1s")
    longer(20, 10, 600, 1500000, 40, "bulk")
    longer(27, 30, 150, 506250, 40, "rpc:1MB@3s")
    in_turn(7, 140, 280, 245000, 40, "media:4900kbps")
    in_turn(7, 140, 280, 245000, 40, "bulk")
    burst(85, 60, "200, 201, 202, 203, 204, 205, 206, 207", "3825000B")
    burst(230, 140, "500, 501, 502, 503, 504, 505, 506, 507, 508, 509, 510, 511", "8MB")
    run("--rate 7Mbps --rtt 85ms --queue 22000B --workload rpc:60kB@100ms --duration 40s")
    run("--rate 100Mbps --rtt 20ms --queue 60000B --workload rpc:400kB@50ms --duration 20s")
    run("--rate 3Mbps --rtt 100ms --queue 15000B --workload rpc:50kB@200ms --duration 40s")
    run("--rate 20Mbps --rtt 40ms --queue 100000B --aqm red --ecn --duration 30s")
    started(100, 20, 35, "media:50Mbps")
    started(100, 20, 35, "rpc:375kB@66ms")
    started(100, 40, 20, "rpc:375kB@66ms")
}
function batches(rate, rtt, interval, size) {
    file(rate, rate * rtt * 250, delay(rtt), delay(rtt) "\naggregation = { interval_ms = " interval ".0, packets = 1000 }")
    run("--link link.toml --duration 20s --workload rpc:" size "@120sx1")
}
function started(rate, rtt, interval, workload) {
    file(rate, rate * rtt * 312.5, delay(rtt), delay(rtt) "\naggregation = { interval_ms = " interval ".0, packets = 1000 }")
    run("--link link.toml --duration 8s --workload " workload)
}
function jitter(rate, rtt, most, size) {
    file(rate, rate * rtt * 250, "delay_distribution_ms = { uniform = { from = " decimal(rtt / 2) ", to = " decimal(rtt / 2 + most) " } }", delay(rtt))
    run("--link link.toml --duration 20s --workload rpc:" size "@120sx1")
}
function longer(rate, rtt, after, queue, seconds, workload,    steps) {
    steps = "delay_steps = [{ at_ms = 0.0, delay_ms = " decimal(rtt / 2) " }, { at_ms = 10000.0, delay_ms = " decimal(after / 2) " }]"
    file(rate, queue, steps, steps)
    run("--link link.toml --duration " seconds "s --workload " workload)
}
function in_turn(rate, rtt, other, queue, seconds, workload,    steps, second) {
    for (second = 0; second < seconds; second++)
        steps = steps (second ? ", " : "") "{ at_ms = " decimal(1000 * second) ", delay_ms = " decimal((second % 2 ? other : rtt) / 2) " }"
    steps = "delay_steps = [" steps "]"
    file(rate, queue, steps, steps)
    run("--link link.toml --duration " seconds "s --workload " workload)
}
function burst(rate, rtt, packets, size) {
    file(rate, rate * rtt * 250, delay(rtt) "\nlost_packets = [" packets "]", delay(rtt))
    run("--link link.toml --duration 40s --workload rpc:" size "@120sx1")
}
function decimal(number) { return sprintf("%.2f", number) }
function delay(rtt) { return "delay_ms = " decimal(rtt / 2) }
function file(rate, queue, forward, reverse) {
    print "cat > link.toml <<'END'"
    print "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = " decimal(rate) "\nqueue_bytes = " queue "\n" forward
    print "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\n" reverse "\nEND"
}
function run(options) {
    print "kneepoint compare " options " --controllers knee,quinn-cubic,bbr3 --seeds 5 --format json"
}
