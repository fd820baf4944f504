# Prints the runs of 36 paths whose way back becomes longer and shorter again in steps, between ideal and busy hosts, of 24 on which it is longer for a part of each
# period, of one that does so after a quiet minute, and of 72 others: awk -f docs/results/swings.awk | sh > runs.jsonl
# It writes the link's file into the folder in which the runs are made.
BEGIN {
    buffer = 1 # in BDP
    rates = split("10 50 200", rate, " ")
    rtts = split("20 60 150", rtt, " ")
    for (r = 1; r <= rates; r++)
        for (d = 1; d <= rtts; d++)
            for (longer = 1; longer <= 2; longer++)
                for (ms = 300; ms <= 1000; ms += 700) {
                    path(rate[r], rtt[d], longer * rtt[d], ms, 0, 40)
                    run("--duration 40s --seeds 2")
                    run("--duration 40s --seeds 2 --host busy")
                }
    for (longer = 1; longer <= 2.5; longer += 1.5)
        for (ms = 400; ms <= 1500; ms += 1100)
            for (quarter = 1; quarter <= 3; quarter++) {
                turns(50, 30, longer * 30, ms, quarter / 4)
                run("--duration 40s --seeds 2")
                turns(20, 100, longer * 100, ms, quarter / 4)
                run("--duration 40s --seeds 2")
            }
    path(50, 30, 80, 300, 60, 100)
    run("--duration 100s --seeds 4")
    split("30 100", rate, " ")
    split("35 90", rtt, " ")
    split("0.7 1.5 3", times, " ")
    split("200 500 1500", half, " ")
    for (r = 1; r <= 2; r++)
        for (d = 1; d <= 2; d++)
            for (t = 1; t <= 3; t++)
                for (h = 1; h <= 3; h++)
                    for (buffer = 0.5; buffer <= 2; buffer += 1.5) {
                        path(rate[r], rtt[d], times[t] * rtt[d], half[h], 0, 30)
                        run("--duration 30s")
                    }
}
# Up and down in six steps each, `ms` for each way.
function path(mbps, rtt, longer, ms, from, to,    at, number, step, steps) {
    steps = sprintf("{ at_ms = 0.0, delay_ms = %.2f }", rtt / 2)
    for (number = 1; (at = 1000 * from + number * ms / 6) < 1000 * to; number++) {
        step = number % 12
        steps = steps sprintf(", { at_ms = %.1f, delay_ms = %.2f }", at, rtt / 2 + longer * (step < 6 ? step : 12 - step) / 6)
    }
    write(mbps, rtt, steps)
}
# Longer for a share of each period of `ms`.
function turns(mbps, rtt, longer, ms, share,    at, steps) {
    steps = sprintf("{ at_ms = 0.0, delay_ms = %.2f }", rtt / 2)
    for (at = 100; at < 40000; at += ms)
        steps = steps sprintf(", { at_ms = %.1f, delay_ms = %.2f }, { at_ms = %.1f, delay_ms = %.2f }", at, rtt / 2 + longer, at + ms * share, rtt / 2)
    write(mbps, rtt, steps)
}
function write(mbps, rtt, steps) {
    print "cat > link.toml <<'END'"
    printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %.1f\ndelay_ms = %.1f\nqueue_bytes = %d\n", mbps, rtt / 2, 125 * mbps * rtt * buffer
    printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_steps = [%s]\nEND\n", steps
}
function run(options) {
    print "kneepoint compare --link link.toml " options " --controllers knee,quinn-cubic,bbr3 --format json"
}
