# Prints the runs of links that mark above a few milliseconds of queue, on long paths: awk -f docs/results/shallow-marks.awk | sh > runs.jsonl
# It writes the link's file into the folder in which the runs are made.
BEGIN {
    split("1 2 5", above, " "); split("5 50 300", rate, " "); split("40 150 300", path, " ")
    for (a = 1; a in above; a++)
        for (r = 1; r in rate; r++)
            for (p = 1; p in path; p++)
                if (rate[r] < 300 || path[p] > 40) link(above[a], rate[r], path[p])
}
# The buffer holds four bandwidth-delay products.
function link(ms, mbps, rtt,    queue) {
    queue = 500 * mbps * rtt
    print "cat > link.toml <<'EOF'"
    printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %.1f\ndelay_ms = %.1f\nqueue_bytes = %d\n", mbps, rtt / 2, queue
    printf "queue = \"step-mark\"\nstep_mark = { ms = %.1f }\n", ms
    printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_ms = %.1f\n", rtt / 2
    print "EOF"
    print "kneepoint compare --link link.toml --controllers knee,bbr3,quinn-cubic --duration 40s --format json"
}
