# Prints the runs of connections that pause beside quinn's CUBIC that does, each of them first in turn: awk -f docs/results/pauses-beside-cubic.awk | sh >
# runs.jsonl
BEGIN {
    split("20 40 50 20 10 100", path, " "); split("1 2 4", buffer, " ")
    split("1s/1s 4s/2s 2s/5s", pauses, " "); split("0s 700ms 1500ms", gap, " "); split("knee bbr3", name, " ")
    for (p = 1; p in path; p += 2)
        for (b = 1; b in buffer; b++)
            for (w = 1; w in pauses; w++)
                for (g = 1; g in gap; g++)
                    for (n = 1; n in name; n++) {
                        run(path[p], path[p + 1], buffer[b], pauses[w], gap[g], name[n] ",quinn-cubic")
                        run(path[p], path[p + 1], buffer[b], pauses[w], gap[g], "quinn-cubic," name[n])
                    }
}
function run(mbps, rtt, bdp, pauses, gap, flows) {
    printf "kneepoint compare --rate %dMbps --rtt %dms --queue %dB --workload on-off:%s --flows %s --start-gap %s --duration 30s --format json\n", mbps, rtt, 125 * mbps * rtt * bdp, pauses, flows, gap
}
