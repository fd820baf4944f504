# Prints the runs of two flows on thirteen paths, 5 to 200 Mb/s, 20 to 200 ms, half to ten BDP of buffer, beside three others: awk -f
# docs/results/thirteen-paths.awk | sh > runs.jsonl
BEGIN {
    split("5 80 2 20 40 0.5 20 40 1 20 40 4 20 80 1 50 50 1 50 50 4 50 20 2 100 30 2 200 10 1 200 20 4 10 200 2 20 40 10", path, " ")
    split("quinn-cubic new-reno bbr3", other, " ")
    for (o = 1; o in other; o++)
        for (p = 1; p in path; p += 3)
            printf "kneepoint compare --controllers knee --against %s --rate %dMbps --rtt %dms --queue %dB --duration 60s --seeds 3 --format json\n", other[o], path[p], path[p + 1], 125 * path[p] * path[p + 1] * path[p + 2]
}
