# Prints the runs of Wi-Fi that holds packets back, and of slow paths that become longer: awk -f docs/results/held-back.awk | sh > runs.jsonl
# It writes the links' files into the folder in which the runs are made.
BEGIN {
    split("5 10 20 50", rates, " "); split("2 10 30 60", rtts, " "); split("1.5 3 7 12", means, " ")
    for (r = 1; r <= 4; r++) for (d = 1; d <= 4; d++) for (m = 1; m <= 4; m++) {
        wifi(rates[r], rtts[d], means[m])
        run("--controllers knee,quinn-cubic,bbr3 --duration 20s")
        run("--controllers knee,quinn-cubic,bbr3 --duration 60s")
    }
    split("10 20 50", few, " "); split("2 30 10", far, " "); split("7 3 3", how, " ")
    for (p = 1; p <= 3; p++) {
        wifi(few[p], far[p], how[p])
        run("--controllers knee,quinn-cubic,bbr3 --duration 30s --seeds 4 --flows 2 --start-gap 1s")
        run("--controllers knee,quinn-cubic,bbr3 --duration 30s --seeds 4 --flows 4 --start-gap 500ms")
        run("--controllers knee,quinn-cubic,bbr3 --duration 30s --seeds 4 --against quinn-cubic")
    }
    # Mb/s, both round trips, and the milliseconds of queue.
    longer(1, 20, 100, 100); longer(1, 20, 60, 60); longer(1, 40, 120, 100); longer(0.5, 40, 200, 200)
    longer(2, 20, 100, 100); longer(3, 30, 200, 200); longer(10, 30, 200, 200); longer(20, 20, 100, 100)
}
function wifi(rate, rtt, mean,    delay) {
    file = "wifi-" rate "-" rtt "-" mean ".toml"
    delay = sprintf("delay_distribution_ms = { wifi = { from = %.2f, mean = %.1f } }", rtt / 2, mean)
    both(rate, 250, delay)
}
function longer(rate, before, after, queue,    times, t, at, delay) {
    split("1 2 5", times, " ")
    for (t = 1; t <= 3; t++) {
        at = times[t]
        file = "longer-" rate "-" before "-" after "-" at ".toml"
        delay = sprintf("delay_steps = [{ at_ms = 0.0, delay_ms = %.1f }, { at_ms = %.1f, delay_ms = %.1f }]", before / 2, 1000 * at, after / 2)
        both(rate, queue, delay)
        run("--controllers knee,quinn-cubic,bbr3 --duration 40s --seeds 4")
    }
}
function both(rate, queue, delay) {
    print "cat > " file " <<'END'"
    link("forward", "left", "right", rate, queue, delay)
    link("reverse", "right", "left", rate, queue, delay)
    print "END"
}
function link(name, from, to, rate, queue, delay) {
    printf "[[link]]\nname = \"%s\"\nfrom = \"%s\"\nto = \"%s\"\nrate_mbps = %.2f\nqueue_bytes = %d\n%s\n", name, from, to, rate, 125 * rate * queue, delay
}
function run(options) {
    print "kneepoint compare --link " file " " options " --format json"
}
