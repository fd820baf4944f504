# Writes a link file for each of 48 paths that stop for 0.1 to 0.6 s every one to three seconds: what comes is dropped, or what waits is held.
# awk -v dir=DIR -f docs/results/stops.awk
# kneepoint compare $(for file in DIR/*.toml; do echo --link $file; done) --controllers knee --duration 20s --seeds 4
BEGIN {
    # Mb/s, ms, and the buffer in BDP; then the loss in percent, and the jitter in ms.
    paths = split("5/30/2 20/40/2 20/40/0.5 50/100/1 100/10/2 100/20/4 10/200/1 300/40/1", path, " ")
    extras = split("0/0 1/0 1/5", extra, " ")
    gaps = split("1.3 0.7 2.1 0.9 1.6", gap, " ")
    for (p = 1; p <= paths; p++) for (e = 1; e <= extras; e++) for (held = 0; held <= 1; held++) {
        split(path[p], of, "/")
        split(extra[e], more, "/")
        file = sprintf("%s/%s-%s-%s-%s-%s-%s.toml", dir, of[1], of[2], of[3], more[1], more[2], held ? "held" : "dropped")
        printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nqueue_bytes = %d\n", of[1] * of[2] * of[3] * 125 > file
        if (more[1] > 0) printf "loss = %.3f\n", more[1] / 100 > file
        if (more[2] > 0) printf "delay_distribution_ms = { uniform = { from = %.2f, to = %.2f } }\n", of[2] / 2, of[2] / 2 + more[2] > file
        else printf "delay_ms = %.2f\n", of[2] / 2 > file
        stops = ""
        start = 1
        for (n = 0; start + 0.1 + 0.1 * (n % 6) < 19; n++) {
            end = start + 0.1 + 0.1 * (n % 6)
            stops = stops (held ? sprintf("{ at_ms = %.1f, rate_mbps = 0.0 }, { at_ms = %.1f, rate_mbps = %.2f }, ", start * 1000, end * 1000, of[1]) : sprintf("[%.1f, %.1f], ", start * 1000, end * 1000))
            start = end + gap[n % gaps + 1]
        }
        if (held) printf "rate_steps = [{ at_ms = 0.0, rate_mbps = %.2f }, %s]\n", of[1], stops > file
        else printf "rate_mbps = %.2f\nblackouts_ms = [%s]\n", of[1], stops > file
        printf "\n[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_ms = %.2f\n", of[2] / 2 > file
        close(file)
    }
}
