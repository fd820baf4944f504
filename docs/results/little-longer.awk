# Writes a link file for each of 36 paths that become a little longer after 8 s: awk -v dir=DIR -f docs/results/little-longer.awk
# kneepoint compare $(for file in DIR/*.toml; do echo --link $file; done) --controllers knee --duration 30s
BEGIN {
    rates = split("2 20 200", rate, " ")
    paths = split("10 40 150", path, " ")
    parts = split("1.05 1.1 1.15 1.25", part, " ")
    for (r = 1; r <= rates; r++) for (p = 1; p <= paths; p++) for (b = 1; b <= parts; b++) {
        queue = int(rate[r] * 125 * path[p])
        if (queue < 15000) queue = 15000
        file = sprintf("%s/%s-%s-%s.toml", dir, rate[r], path[p], part[b])
        printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %.1f\nqueue_bytes = %d\n", rate[r], queue > file
        printf "delay_steps = [{ at_ms = 0.0, delay_ms = %.3f }, { at_ms = 8000.0, delay_ms = %.3f }]\n\n", path[p] / 2, path[p] * part[b] - path[p] / 2 > file
        printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_ms = %.1f\n", path[p] / 2 > file
        close(file)
    }
}
