# Prints the runs of flows that share a deep buffer behind a path that loses packets at random: awk -f docs/results/lossy-company.awk | sh > runs.jsonl
BEGIN {
    run("5 --start-gap 2s --queue 400kB --loss 0.5%"); run("5 --start-gap 2s --queue 200kB --loss 0.5%")
    run("5 --queue 200kB --loss 0.5%"); run("5 --start-gap 2s --queue 200kB --loss 0.1%"); run("3 --start-gap 2s --queue 200kB --loss 0.5%")
}
function run(options) {
    print "kneepoint compare --controllers knee,quinn-cubic,bbr3 --rate 10Mbps --rtt 20ms --flows " options " --duration 60s --seeds 5 --format json"
}
