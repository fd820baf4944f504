# A network for `kneepoint compare --link`: 1 Gb/s and 20 ms, and behind it a relay that stops for `stop` ms every `every` ms.
BEGIN {
  print "[[link]]\nname = \"forward\"\nfrom = \"left\"\nto = \"relay\"\nrate_mbps = 1000.0\ndelay_ms = 10.0\nqueue_bytes = 2_500_000"
  print "[[link]]\nname = \"relay\"\nfrom = \"relay\"\nto = \"right\"\nrate_steps = [{ at_ms = 0.0, rate_mbps = 100000.0 },"
  for (t = 200; t < 11000 && stop > 0; t += every)
    printf "{ at_ms = %.1f, rate_mbps = 0.0 }, { at_ms = %.1f, rate_mbps = 100000.0 },\n", t, t + stop
  print "]\n[[link]]\nname = \"reverse\"\nfrom = \"right\"\nto = \"left\"\nrate_mbps = 1000.0\ndelay_ms = 10.0"
}
