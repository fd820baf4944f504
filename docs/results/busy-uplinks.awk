# Prints the runs of downloads while others send on the way back, and of bursts of losses on short paths: awk -f docs/results/busy-uplinks.awk | sh > runs.jsonl
# It writes the links' files into the folder in which the runs are made.
BEGIN {
    busy(50, 5, 30, 190000, 100000, "constant", 4.95)
    run("--duration 30s")
    run("--duration 30s --workload media:20Mbps")
    run("--duration 30s --workload rpc:1MB@500ms")
    busy(20, 1, 60, 300000, 20000, "poisson", 0.7)
    run("--duration 30s")
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
