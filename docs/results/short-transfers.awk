# Prints the runs of short transfers on 60 paths, two seeds: awk -f docs/results/short-transfers.awk | sh > runs.jsonl
# Of each run, message_p50_ms, message_p95_ms, queue_delay_mean_ms and loss_rate count.
BEGIN {
    links = split("10 40,50 20,50 80,200 30,20 150", link, ",")
    for (i = 1; i <= links; i++) {
        split(link[i], path, " ")
        bdp = path[1] * path[2] / 8 # in kB: Mb/s times ms
        for (buffer = 1; buffer <= 4; buffer += 3)
            for (size = split("1 4 10", sizes, " "); size > 0; size--)
                for (load = 0.5; load < 1; load += 0.3)
                    run(path[1], path[2], bdp, buffer, sizes[size], load)
    }
}
function run(rate, rtt, bdp, buffer, size, load,    gap, seed, seconds) {
    gap = size * rtt / load # in ms
    seconds = 0.03 * gap + (gap > 500 ? 0.006 * gap : 3)
    for (seed = 1; seed <= 2; seed++) {
        printf "kneepoint compare --rate %dMbps --rtt %dms --queue %.1fkB --workload rpc:%.0fkB@600sx1", rate, rtt, buffer * bdp, size * bdp
        printf " --flows 30 --start-gap %.0fms --duration %.1fs --seed %d", gap, seconds, seed
        print " --controllers knee,bbr3,quinn-cubic --format json"
    }
}
