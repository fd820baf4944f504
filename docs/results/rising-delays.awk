# Prints the runs of paths that become longer over seconds, stay so or not, and of others' bursts that overload a link: awk -f docs/results/rising-delays.awk | sh > runs.jsonl
# It writes the links' files into the folder in which the runs are made.
BEGIN {
    split("20 20 50 5", rates, " "); split("80 40 30 60", rtts, " "); split("1.3 2 3 5", times, " "); split("5 20", rises, " ")
    for (t = 1; t <= 4; t++) for (p = 1; p <= 4; p++) for (r = 1; r <= 2; r++) {
        longer(rates[p], rtts[p], (times[t] - 1) * rtts[p], rises[r], 1000, 1, "rises-" times[t] "-" rates[p] "-" rtts[p] "-" rises[r])
        run(10 + rises[r])
    }
    # For some seconds: how many Mb/s, the round trip, so much more, and the seconds of the rise, of the longer path, and of the fall.
    some("50 30 15 2 0 2"); some("50 30 60 5 0 5"); some("50 20 20 5 0 5"); some("20 20 20 1 3 1"); some("20 40 40 1 3 1"); some("50 30 15 1 8 1")
    split("2000 2100 2230 2370 2610 2900", starts, " ")
    for (s = 1; s <= 6; s++) {
        bursts(20, 40, 8, 1.3, 500, 1500, starts[s]); bursts(10, 20, 8, 1.3, 200, 800, starts[s])
        bursts(50, 30, 8, 1.3, 200, 800, starts[s]); bursts(20, 40, 10, 1, 300, 700, starts[s])
    }
}
function some(words,    w) {
    split(words, w, " ")
    longer(w[1], w[2], w[3], w[4], w[5], w[6], "some-" w[1] "-" w[2] "-" w[3] "-" w[4] "-" w[5] "-" w[6])
    run(60)
}
# The way back becomes longer from 5 s on, in steps of 50 ms.
function longer(rate, rtt, more, rise, stay, fall, name,    at, share, back, steps) {
    file = name ".toml"
    print "cat > " file " <<'END'"
    link("forward", "left", "right", rate, rtt / 2, 250 * rate * rtt)
    steps = sprintf("{ at_ms = 0.0, delay_ms = %.2f }", rtt / 2)
    for (at = 50; at <= 1000 * (rise + stay + fall) && at <= 60000; at += 50) {
        share = at / 1000 / rise
        back = (rise + stay + fall - at / 1000) / fall
        share = share > 1 ? 1 : share
        share = back < share ? back : share
        if (at > 1000 * rise && at < 1000 * (rise + stay)) continue
        steps = steps sprintf(", { at_ms = %.1f, delay_ms = %.2f }", 5000 + at, rtt / 2 + more * share)
    }
    printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_steps = [%s]\nEND\n", steps
}
function bursts(rate, rtt, buffer, load, on, off, start) {
    file = "bursts-" rate "-" rtt "-" buffer "-" start ".toml"
    print "cat > " file " <<'END'"
    link("forward", "left", "right", rate, rtt / 2, 125 * rate * rtt * buffer)
    link("reverse", "right", "left", 1000, rtt / 2, 1000000)
    print "[[host]]\nnode = \"left\"\naddress = \"10.9.0.1:1\"\n[[host]]\nnode = \"right\"\naddress = \"10.9.1.1:1\""
    printf "[[traffic]]\nfrom = \"10.9.0.1:1\"\nto = \"10.9.1.1:1\"\npattern = \"on-off\"\nrate_mbps = %.2f\npayload_bytes = 1200\nstart_ms = %d.0\nstop_ms = 40000.0\non_ms = %d.0\noff_ms = %d.0\nEND\n", rate * load, start, on, off
    run(30)
}
function link(name, from, to, rate, delay, queue) {
    printf "[[link]]\nname = \"%s\"\nfrom = \"%s\"\nto = \"%s\"\nrate_mbps = %.2f\ndelay_ms = %.2f\nqueue_bytes = %d\n", name, from, to, rate, delay, queue
}
function run(duration) {
    print "kneepoint compare --link " file " --duration " duration "s --controllers knee,quinn-cubic,bbr3 --format json"
}
