# Prints the runs of an application that starts three seconds after quinn's CUBIC, which sends as much as it can: awk -f
# docs/results/applications-beside-cubic.awk | sh > runs.jsonl
BEGIN {
    split("10 40 50 40 200 20 5 80", path, " "); split("1 2 4", buffer, " ")
    for (p = 1; p in path; p += 2)
        for (b = 1; b in buffer; b++) {
            rate = path[p]
            run("media:" (rate / 5) "Mbps,i=" (rate * 5) "kB@2s")
            run("media:" (rate >= 8 ? int(rate / 4) : 1) "Mbps")
            run("rpc:" (rate * 12) "kB@2s")
            run("bulk")
        }
}
function run(workload) {
    printf "kneepoint compare --rate %dMbps --rtt %dms --queue %dB --workload %s --controllers knee,quinn-cubic,bbr3 --against quinn-cubic --against-workload bulk --against-first --start-gap 3s --duration 60s --seeds 2 --format json\n", rate, path[p + 1], 125 * rate * path[p + 1] * buffer[b], workload
}
