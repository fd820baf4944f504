# Prints the runs of applications on 200 drawn paths, two seeds each: awk -f docs/results/applications.awk | sh > runs.jsonl
# Of each run, message_p95_ms or frame_delay_p95_ms, rtt_mean_ms over rtt_ms, and loss_rate count.
BEGIN {
    state = 1
    for (path = 0; path < 200; path++) {
        rate = between(5, 400); rtt = between(5, 200); buffer = between(0.5, 8); interval = between(50, 1000)
        flows = one_of("1 1 2 2 3 4"); load = one_of("0.3 0.5 0.7 0.8 0.9 0.95"); gap = 10 + 890 * drawn()
        queue = buffer * rate * rtt * 125
        if (queue < 6000) queue = 6000
        message = load * rate * interval / 8 / flows # in kB
        workload = drawn() < 0.25 ? sprintf("media:%.2fMbps", load * rate / flows) : sprintf("rpc:%dkB@%dms", message < 2 ? 2 : message, interval)
        printf "kneepoint compare --rate %.2fMbps --rtt %dus --queue %dB --flows %d --start-gap %dms", rate, 1000 * rtt, queue, flows, gap
        print " --workload " workload " --duration 20s --seeds 2 --controllers knee,bbr3,quinn-cubic --format json"
    }
}
# The minimal standard generator of Park and Miller: other awks draw the same.
function drawn() {
    state = state * 16807 % 2147483647
    return state / 2147483647
}
function between(least, most) { return least * exp(drawn() * log(most / least)) }
function one_of(values,    count, value) {
    count = split(values, value, " ")
    return value[1 + int(count * drawn())]
}
