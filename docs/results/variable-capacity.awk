# Prints the runs of RFC 8867's sections 5.1 to 5.4 and 5.6, a link whose rate varies, with the RFC's rates and ten times as much: awk -f
# docs/results/variable-capacity.awk | sh > runs.jsonl
# It writes the links' files into the folder in which the runs are made.
BEGIN {
    split("10 50 150", delays, " "); split("100 300 1000", queues, " "); split("1 10", scales, " ")
    for (d = 1; d <= 3; d++) for (q = 1; q <= 3; q++) for (s = 1; s <= 2; s++) {
        delay = delays[d]; queue = queues[q]; scale = scales[s]
        network("0 1 40 2.5 60 0.6 80 1", "0 10", 1)
        run("--duration 100s")
        network("0 4 25 2 50 3.5 75 1 100 2", "0 10", 2)
        run("--duration 120s --flows 2 --start-gap 5s")
        network("0 2 20 1 40 0.5 60 2", "0 2 35 0.8 70 2", 2)
        run("--duration 100s")
        network("0 3.5", "0 10", 3.5)
        run("--duration 60s --flows 3 --start-gap 10s")
        network("0 2", "0 10", 2)
        run("--duration 60s --against quinn-cubic")
    }
}
# Seconds and Mb/s of both ways, and the rate of the forward one for which its buffer is `queue` ms long.
function network(forward, reverse, rate) {
    file = "capacity-" ++count ".toml"
    print "cat > " file " <<'END'"
    link("forward", "left", "right", forward, rate)
    link("reverse", "right", "left", reverse, 2)
    print "END"
}
function link(name, from, to, steps, rate,    words, n, i) {
    printf "[[link]]\nname = \"%s\"\nfrom = \"%s\"\nto = \"%s\"\ndelay_ms = %.1f\nqueue_bytes = %d\nrate_steps = [", name, from, to, delay, 125 * rate * scale * queue
    n = split(steps, words, " ")
    for (i = 1; i < n; i += 2)
        printf "%s{ at_ms = %.1f, rate_mbps = %.2f }", (i > 1 ? ", " : ""), 1000 * words[i], scale * words[i + 1]
    print "]"
}
function run(options) {
    print "kneepoint compare --link " file " --controllers knee,quinn-cubic,bbr3 --seeds 2 --format json " options
}
