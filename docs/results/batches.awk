# Writes a link file for each path of a set: acknowledgements in batches (50 paths), or data in lumps (56).
# awk -v dir=DIR -v held=acks -f docs/results/batches.awk; or held=data
# kneepoint compare $(for file in DIR/*.toml; do echo --link $file; done) --controllers knee --duration 15s --seeds 2; 10s for data
function link(name, from, to, rate, delay, interval) {
    printf "[[link]]\nname = \"%s\"\nfrom = \"%s\"\nto = \"%s\"\nrate_mbps = %.2f\ndelay_ms = %.2f\n", name, from, to, rate, delay > file
    if (interval) printf "aggregation = { interval_ms = %.2f }\n", interval > file
}
BEGIN {
    # Mb/s, ms, and the buffer in BDP; then the interval over the round trip.
    acks = "5/30/2 20/40/2 21.2/26.8/1 50/100/2 100/20/1"
    data = "5/30/2 20/40/2 50/40/2 60/19/4 50/100/2 115/5.8/1 300/20/1"
    paths = split(held == "data" ? data : acks, path, " ")
    few = "0.05 0.10 0.15 0.25 0.40 0.55 0.75 1.00"
    many = "0.10 0.25 0.40 0.55 0.70 0.85 1.00 1.30 1.70 2.00"
    parts = split(held == "data" ? few : many, part, " ")
    for (p = 1; p <= paths; p++) for (b = 1; b <= parts; b++) {
        split(path[p], of, "/")
        file = sprintf("%s/%s-%s-%s.toml", dir, of[1], of[2], part[b])
        interval = of[2] * part[b]
        link("forward", "left", "right", of[1], of[2] / 2, held == "data" ? interval : 0)
        printf "queue_bytes = %d\n\n", of[1] * of[2] * of[3] * 125 > file
        link("reverse", "right", "left", 1000, of[2] / 2, held == "data" ? 0 : interval)
        close(file)
    }
}
