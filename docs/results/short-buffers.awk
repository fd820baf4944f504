# Writes a link file for each of 108 paths with a buffer of a tenth to a half of a BDP (6000 bytes at least): constant, with data in lumps of 2 ms or of a fifth
# of a round trip, or with acknowledgements in batches of half of one.
# awk -v dir=DIR -f docs/results/short-buffers.awk
# kneepoint compare $(for file in DIR/*.toml; do echo --link $file; done) --controllers knee --duration 12s
BEGIN {
    rates = split("5 50 300", rate, " ")
    trips = split("10 40 100", trip, " ")
    buffers = split("0.1 0.25 0.5", buffer, " ")
    kinds = split("constant lumps2 lumps batches", kind, " ")
    for (r = 1; r <= rates; r++) for (t = 1; t <= trips; t++) for (b = 1; b <= buffers; b++) for (k = 1; k <= kinds; k++) {
        file = sprintf("%s/%s-%s-%s-%s.toml", dir, rate[r], trip[t], buffer[b], kind[k])
        queue = rate[r] * trip[t] * buffer[b] * 125
        held = kind[k] == "lumps2" ? 2 : kind[k] == "lumps" ? trip[t] / 5 : 0
        printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %d\ndelay_ms = %.1f\nqueue_bytes = %d\n", rate[r], trip[t] / 2, queue < 6000 ? 6000 : queue > file
        if (held) printf "aggregation = { interval_ms = %.1f }\n", held > file
        printf "\n[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = %d\ndelay_ms = %.1f\n", rate[r] < 100 ? 100 : rate[r], trip[t] / 2 > file
        if (kind[k] == "batches") printf "aggregation = { interval_ms = %.1f }\n", trip[t] / 2 > file
        close(file)
    }
}
