# Writes a link file for each of 54 paths that become longer after 8 s: awk -v dir=DIR -f docs/results/longer-paths.awk
# kneepoint compare $(for file in DIR/*.toml; do echo --link $file; done) --controllers knee --seeds 2 --duration 20s
BEGIN {
    rates = split("2 20 130", rate, " ")
    paths = split("20-60 20-200 45-160 66-200 93-220 150-400", path, " ")
    buffers = split("0.3 1 4", bdp, " ")
    for (r = 1; r <= rates; r++) for (p = 1; p <= paths; p++) for (b = 1; b <= buffers; b++) {
        split(path[p], rtt, "-")
        queue = int(rate[r] * 125 * rtt[1] * bdp[b])
        if (queue < 3000) queue = 3000
        file = sprintf("%s/%s-%s-%s.toml", dir, rate[r], path[p], bdp[b])
        printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %.1f\nqueue_bytes = %d\n", rate[r], queue > file
        printf "delay_steps = [{ at_ms = 0.0, delay_ms = %.1f }, { at_ms = 8000.0, delay_ms = %.1f }]\n\n", rtt[1] / 2, rtt[2] - rtt[1] / 2 > file
        printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_ms = %.1f\n", rtt[1] / 2 > file
        close(file)
    }
}
