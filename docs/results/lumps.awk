# Writes a link file for each of 56 paths that deliver data in lumps: awk -v dir=DIR -f docs/results/lumps.awk
# kneepoint compare $(for file in DIR/*.toml; do echo --link $file; done) --controllers knee --duration 10s --seeds 2
BEGIN {
    paths = split("5/30/2 20/40/2 50/40/2 60/19/4 50/100/2 115/5.8/1 300/20/1", path, " ")
    parts = split("0.05 0.10 0.15 0.25 0.40 0.55 0.75 1.00", part, " ")
    for (p = 1; p <= paths; p++) for (b = 1; b <= parts; b++) {
        split(path[p], of, "/")
        file = sprintf("%s/%s-%s-%s.toml", dir, of[1], of[2], part[b])
        printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %.2f\n", of[1] > file
        printf "queue_bytes = %d\ndelay_ms = %.2f\n", of[1] * of[2] * of[3] * 125, of[2] / 2 > file
        printf "aggregation = { interval_ms = %.2f }\n\n", of[2] * part[b] > file
        printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_ms = %.2f\n", of[2] / 2 > file
        close(file)
    }
}
