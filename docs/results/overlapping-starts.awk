# Prints the runs of three and ten flows of knee that start 0.1 and 0.5 s apart, on five paths with buffers of 1, 4 and 20 BDP, four seeds:
# awk -f docs/results/overlapping-starts.awk | sh > runs.jsonl
# Of each run, rtt_mean_ms, jain and loss_rate count.
BEGIN {
    paths = split("30 40,20 40,50 20,20 100,100 30", path, ",")
    buffers = split("1 4 20", buffer, " ")
    for (i = 1; i <= paths; i++) {
        split(path[i], link, " ")
        for (flows = 3; flows <= 10; flows += 7)
            for (gap = 100; gap <= 500; gap += 400)
                for (j = 1; j <= buffers; j++) {
                    printf "kneepoint compare --controllers knee --rate %dMbps --rtt %dms --queue %.1fkB", link[1], link[2], link[1] * link[2] / 8 * buffer[j]
                    printf " --flows %d --start-gap %dms --duration 30s --seeds 4 --format json\n", flows, gap
                }
    }
}
