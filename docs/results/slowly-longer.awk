# Writes a link file for each of 3 paths that become longer slowly: awk -v dir=DIR -f docs/results/slowly-longer.awk
# kneepoint compare --link DIR/50-20-80.toml --controllers knee --duration 60s (50-20-50: 30s; 200-20-50: 15s)
BEGIN {
    write(50, 80, 60)
    write(50, 50, 30)
    write(200, 50, 15)
}
function write(rate, rtt, seconds,    file, step, steps) {
    file = sprintf("%s/%d-20-%d.toml", dir, rate, rtt)
    steps = 50 * seconds
    printf "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"right\"\nrate_mbps = %.1f\nqueue_bytes = %d\ndelay_steps = [", rate, rate * 5000 > file
    for (step = 0; step <= steps; step++)
        printf "{ at_ms = %.1f, delay_ms = %.4f }%s", 20 * step, 10 + (rtt - 20) * step / steps, step < steps ? ", " : "]\n\n" > file
    printf "[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_ms = 10.0\n" > file
    close(file)
}
