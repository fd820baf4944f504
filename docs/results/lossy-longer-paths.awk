# Prints the runs of paths that lose packets at random and become longer, between ideal hosts and then between phones: awk -f
# docs/results/lossy-longer-paths.awk | sh > runs.jsonl
# It writes the link's file into the folder in which the runs are made.
BEGIN {
    runs("8", "0 0.001 0.01 0.03", "--seeds 3")
    runs("3 20", "0.002 0.01 0.03", "--seeds 2")
    runs("3 20", "0.002 0.01 0.03", "--seeds 2 --host phone")
}
function runs(times, losses, options,    rate, path, loss, time, r, p, l, t) {
    split("2 20 100", rate, " "); split("20 60 40 120 40 56 100 300", path, " ")
    split(losses, loss, " "); split(times, time, " ")
    for (r = 1; r in rate; r++)
        for (p = 1; p in path; p += 2)
            for (l = 1; l in loss; l++)
                for (t = 1; t in time; t++) link(rate[r], path[p], path[p + 1], loss[l], time[t], options)
}
# The way back becomes longer; the buffer holds a bandwidth-delay product of the shorter path, 15 kB at least.
function link(mbps, rtt, longer, loss, at, options,    queue) {
    queue = 125 * mbps * rtt
    if (queue < 15000) queue = 15000
    print "cat > link.toml <<'EOF'"
    printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %.1f\ndelay_ms = %.1f\nqueue_bytes = %d\nloss = %.3f\n", mbps, rtt / 2, queue, loss
    printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\n"
    printf "delay_steps = [{ at_ms = 0.0, delay_ms = %.1f }, { at_ms = %d.0, delay_ms = %.1f }]\n", rtt / 2, 1000 * at, longer - rtt / 2
    print "EOF"
    print "kneepoint compare --link link.toml --controllers knee,bbr3,quinn-cubic --duration 40s --format json " options
}
