"""Reference data for the adaptive filter with bounded lower bounds: e_atkf_bounded.csv and f_skip_bounded.csv.

Run it without arguments in its own directory. It needs Python 3 and nothing else.

A censored sample multiplies the normal belief by the probability that a measurement reaches the limit. Here that product is
integrated numerically. The crate uses closed forms for its moments, so that an error there shows.
"""

import math
import random

HALF_WIDTH = 14.0  # deviations
NODES = 2801


def tail(a):
    """P(Z > a) for a standard normal Z."""
    return 0.5 * math.erfc(a / math.sqrt(2.0))


def density(a):
    return math.exp(-0.5 * a * a) / math.sqrt(2.0 * math.pi)


def reached(mean, prior, noise, limit):
    """Mean and variance of N(mean, prior), given that it plus N(0, noise) is at least the limit.

    The trapezoidal rule: the integrand and all its derivatives vanish at both ends, which makes it exact to rounding.
    """
    deviation, jitter = math.sqrt(prior), math.sqrt(noise)
    step = 2.0 * HALF_WIDTH / (NODES - 1)
    nodes = [i * step - HALF_WIDTH for i in range(NODES)]
    weights = [density(z) * tail((limit - mean - z * deviation) / jitter) for z in nodes]
    total = math.fsum(weights)
    first = math.fsum(w * z for w, z in zip(weights, nodes)) / total
    second = math.fsum(w * (z - first) ** 2 for w, z in zip(weights, nodes)) / total
    return mean + first * deviation, second * prior


class Filter:
    """Random walk in noise, both of unknown variance."""

    LENGTH, FADING, OFFSET, CLIP = 16, 0.98, 20, 3.0
    R_RANGE, Q_RANGE = (0.02, 0.5), (1e-3, 1.0)
    KNOWN = 0.5  # deviations below the mean from which on a lower bound is known already

    def __init__(self, mean, deviation, floor):
        self.mean, self.floor = mean, floor
        self.r = deviation**2
        self.q = 0.04 * self.r
        self.psi = self.r
        self.squares, self.products = [], []
        self.last, self.count = 0.0, 0
        self.xi = self.c1 = self.gain = self.innovation = 0.0
        self.limit()

    def limit(self):
        low, high = ((share * self.mean) ** 2 for share in self.R_RANGE)
        self.r = min(max(self.r, low), high)
        self.q = min(max(self.q, self.Q_RANGE[0] * self.r), self.Q_RANGE[1] * self.r)

    def sigma(self):
        return math.sqrt(self.psi + self.q + self.r)

    def learn(self, square, innovation, gain, prior, posterior):
        self.squares = (self.squares + [square])[-self.LENGTH :]
        self.products = (self.products + [innovation * self.last])[-self.LENGTH :]
        self.last = innovation
        self.xi = math.fsum(self.squares) / len(self.squares)
        self.c1 = math.fsum(self.products) / len(self.products)
        self.count += 1
        weight = (1.0 - self.FADING) / (1.0 - self.FADING ** (self.count + self.OFFSET))
        q = gain**2 * self.xi + posterior - self.psi + 2.0 * gain * self.c1
        r = (1.0 - gain) * ((1.0 - gain) * self.xi + prior) - self.c1
        self.q += weight * (q - self.q)
        self.r += weight * (r - self.r)

    def take(self, rate, limit):
        sigma = self.sigma()
        censored = rate >= limit
        if censored and limit < self.mean - self.KNOWN * sigma:
            self.gain = self.innovation = 0.0
            return
        prior = self.psi + self.q
        gain = prior / (prior + self.r)
        if censored:
            mean, posterior = reached(self.mean, prior, self.r, limit)
            innovation = (mean - self.mean) / gain
            posterior = min(posterior, max(self.psi, self.r))
            # E[e^2 | e > a] of a normal e with deviation sigma.
            a = (limit - self.mean) / sigma
            square = sigma**2 * (1.0 + a * density(a) / tail(a))
        else:
            innovation = rate - self.mean
            mean, posterior = self.mean + gain * innovation, prior * self.r / (prior + self.r)
            square = innovation**2
        self.gain, self.innovation = gain, innovation
        clip = self.CLIP * sigma
        self.learn(min(square, clip**2), min(max(innovation, -clip), clip), gain, prior, posterior)
        self.mean, self.psi = max(mean, self.floor), posterior
        self.limit()


class Skip:
    """The mode machine with every option on."""

    PATIENCE, OUTLIER, INFLATE, OUTAGE = 3, 3.0, 2.5, 50_000.0

    def __init__(self, kalman):
        self.filter = kalman
        self.drops, self.steps, self.outages = [], [], 0

    def reset(self, mean):
        f = self.filter
        f.mean, f.last = max(mean, f.floor), 0.0
        f.limit()
        f.psi = max(f.psi, f.r / self.PATIENCE)

    def take(self, rate, limit):
        f = self.filter
        mean, sigma = f.mean, f.sigma()
        if rate >= limit:
            self.drops, self.steps, self.outages = [], [], 0
            f.take(limit, limit)
            if limit > mean + self.INFLATE * sigma:
                f.psi += ((limit - mean) / 2.0) ** 2
            return "censored"
        nothing = rate == 0.0
        if nothing:
            self.outages, self.steps = self.outages + 1, []
            if self.outages == self.PATIENCE:
                self.outages, self.drops = 0, []
                f.psi += f.q
                self.reset(self.OUTAGE)
                return "outage_reset"
        else:
            self.outages = 0
        if rate < mean - self.OUTLIER * sigma:
            self.steps = []
            self.drops.append(rate)
            prior = f.psi + f.q
            gain = prior / (prior + f.r)
            f.learn((self.OUTLIER * sigma) ** 2, 0.0, gain, prior, (1.0 - gain) * prior)
            f.psi = prior
            f.limit()
            if len(self.drops) == self.PATIENCE:
                lasting = sum(self.drops) / self.PATIENCE
                self.drops = []
                self.reset(lasting)
                return "drop_reset"
            return "outage_wait" if nothing else "drop"
        self.drops = []
        f.take(rate, math.inf)
        if rate > mean + self.OUTLIER * sigma:
            self.steps.append(rate)
            if len(self.steps) == self.PATIENCE:
                lasting = sum(self.steps) / self.PATIENCE
                self.steps = []
                self.reset(lasting)
                return "step_reset"
            return "step"
        self.steps = []
        return "outage_wait" if nothing else "normal"


GAINS = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def samples(unit, digits, estimate, outages):
    """Greedy and limited by the application in turn, on a link that falls to 0.6 and rises to 1.5 of the unit."""
    chance = random.Random(20)
    for t in range(600):
        capacity = unit * (1.0 if t < 300 else 0.6 if t < 450 else 1.5)
        noisy = max(chance.gauss(capacity, 0.05 * capacity), 0.0)
        if t % 100 < 40:
            limit = GAINS[t % 8] * estimate()
            if t % 8 == 5:
                limit = math.inf
        elif t % 100 < 80:
            limit = 0.2 * capacity
        else:
            limit = chance.uniform(0.5, 1.02) * capacity
        rate = min(noisy, limit)
        if outages and t % 150 in (20, 21, 22, 37):
            rate, limit = 0.0, math.inf
        yield t, float(f"{rate:.{digits}f}"), float(f"{limit:.{digits}f}")


def write(name, header, rows):
    with open(name, "w", newline="\n") as file:
        file.write(",".join(header) + "\n")
        for row in rows:
            file.write(",".join(v if isinstance(v, str) else f"{v:.12g}" for v in row) + "\n")


def main():
    f = Filter(100.0, 10.0, 1.0)
    rows = []
    for t, rate, limit in samples(100.0, 3, lambda: f.mean, False):
        f.take(rate, limit)
        rows.append((t, rate, limit, f.mean, f.psi, f.q, f.r, f.gain, f.innovation, f.xi, f.c1))
    write("e_atkf_bounded.csv", ("t", "C", "S", "x", "Psi", "Q", "R", "K", "innov", "xi", "c1"), rows)

    skip = Skip(Filter(1.25e6, 62500.0, 50_000.0))
    f = skip.filter
    rows = []
    for t, rate, limit in samples(1.25e6, 0, lambda: f.mean, True):
        mode = skip.take(rate, limit)
        rows.append((t, rate, limit, mode, f.mean, f.psi, f.q, f.r))
    write("f_skip_bounded.csv", ("t", "C", "S", "mode", "x", "Psi", "Q", "R"), rows)


if __name__ == "__main__":
    main()
