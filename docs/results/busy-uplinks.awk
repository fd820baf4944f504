# Prints the runs of downloads while others send on the way back, of paths whose delay swings, of policers, and of bursts of losses on short paths: awk -f docs/results/busy-uplinks.awk | sh > runs.jsonl
# It writes the links' files into the folder in which the runs are made.
BEGIN {
    busy(50, 5, 30, 190000, 100000, "constant", 4.95)
    run("--duration 30s")
    run("--duration 30s --workload media:20Mbps")
    run("--duration 30s --workload rpc:1MB@500ms")
    busy(20, 1, 60, 300000, 20000, "poisson", 0.7)
    run("--duration 30s")
    on_off(50, 5, 30, 190000, 250000, 9)
    run("--duration 40s")
    run("--duration 30s --workload media:5Mbps")
    on_off(50, 5, 30, 190000, 100000, 9)
    run("--duration 30s")
    run("--duration 30s --workload media:10Mbps")
    run("--duration 30s --workload rpc:100kB@100ms")
    split("20 40 80", swing, " ")
    for (s = 1; s <= 3; s++) {
        swings(50, 30, 187500, swing[s], 300)
        run("--duration 40s")
    }
    swings(200, 40, 1000000, 60, 300)
    run("--duration 40s")
    policed(12, 60, 225000)
    run("--duration 20s --workload rpc:375kB@500ms")
    policed(25, 100, 187500)
    run("--duration 40s --flows 2 --start-gap 3s")
    bursts(5)
    run("--duration 20s")
    bursts(10)
    run("--duration 20s")
}
function busy(down, up, rtt, queue, up_queue, pattern, rate) {
    print "cat > link.toml <<'END'"
    link("forward", "left", "right", down, rtt, queue, "")
    link("reverse", "right", "left", up, rtt, up_queue, "")
    print "[[host]]\nnode = \"left\"\naddress = \"10.9.0.1:1\"\n[[host]]\nnode = \"right\"\naddress = \"10.9.1.1:1\""
    print "[[traffic]]\nfrom = \"10.9.1.1:1\"\nto = \"10.9.0.1:1\"\npattern = \"" pattern "\"\nrate_mbps = " decimal(rate) "\npayload_bytes = 1200\nEND"
}
# Others' packets on the way back, for 300 ms in each 600.
function on_off(down, up, rtt, queue, up_queue, rate) {
    busy(down, up, rtt, queue, up_queue, "on-off", rate)
    print "printf 'on_ms = 300.0\\noff_ms = 300.0\\n' >> link.toml"
}
# A way back that becomes longer for so many ms, and shorter again, in steps.
function swings(rate, rtt, queue, longer, ms,    at, step, steps) {
    print "cat > link.toml <<'END'"
    link("forward", "left", "right", rate, rtt, queue, "")
    for (at = 0; at < 40000; at += ms / 6) {
        step = (at / (ms / 6)) % 12
        step = step < 6 ? step + 1 : 11 - step
        steps = steps (at ? ", " : "") sprintf("{ at_ms = %.1f, delay_ms = %.2f }", at, rtt / 2 + longer * step / 6)
    }
    printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_steps = [%s]\nEND\n", steps
}
function policed(rate, rtt, bucket) {
    print "cat > link.toml <<'END'"
    link("forward", "left", "right", 100, rtt, 625000, sprintf("policer = { rate_mbps = %d.0, burst_bytes = %d }\n", rate, bucket))
    link("reverse", "right", "left", 1000, rtt, 1000000, "")
    print "END"
}
function bursts(rate) {
    print "cat > link.toml <<'END'"
    link("forward", "left", "right", rate, 10, 30000, "gilbert_elliott = { p = 0.005, r = 0.15 }\n")
    link("reverse", "right", "left", 100, 10, 1000000, "")
    print "END"
}
function link(name, from, to, rate, rtt, queue, more) {
    printf "[[link]]\nname = \"%s\"\nfrom = \"%s\"\nto = \"%s\"\nrate_mbps = %s\ndelay_ms = %s\nqueue_bytes = %d\n%s", name, from, to, decimal(rate), decimal(rtt / 2), queue, more
}
function decimal(number) { return sprintf("%.2f", number) }
function run(options) {
    print "kneepoint compare --link link.toml " options " --controllers knee,quinn-cubic,bbr3 --seeds 12 --format json"
}
