# Writes a link file for each of 48 paths that lose packets in bursts (Gilbert and Elliott): constant, with data in lumps, or with acknowledgements in batches of 5 ms.
# awk -v dir=DIR -f docs/results/loss-bursts.awk
# kneepoint compare $(for file in DIR/*.toml; do echo --link $file; done) --controllers knee --duration 20s --seeds 4
BEGIN {
    # Mb/s, ms, and the buffer in BDP; then the mean length of a burst, and one burst in so many packets.
    paths = split("5/80/2 20/40/1 100/20/4 300/40/0.5", path, " ")
    bursts = split("5/1000 10/1000 20/1000 50/5000", burst, " ")
    kinds = split("constant lumps batches", kind, " ")
    for (p = 1; p <= paths; p++) for (b = 1; b <= bursts; b++) for (k = 1; k <= kinds; k++) {
        split(path[p], of, "/")
        split(burst[b], lost, "/")
        file = sprintf("%s/%s-%s-%s-%s-%s-%s.toml", dir, of[1], of[2], of[3], lost[1], lost[2], kind[k])
        printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %.2f\ndelay_ms = %.2f\nqueue_bytes = %d\n", of[1], of[2] / 2, of[1] * of[2] * of[3] * 125 > file
        printf "gilbert_elliott = { p = %.5f, r = %.3f, good = 0.0, bad = 1.0 }\n%s\n", 1 / lost[2], 1 / lost[1], kind[k] == "lumps" ? "aggregation = { interval_ms = 5.0 }" : "" > file
        printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_ms = %.2f\n%s\n", of[2] / 2, kind[k] == "batches" ? "aggregation = { interval_ms = 5.0 }" : "" > file
        close(file)
    }
}
