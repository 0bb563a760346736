"""Makes scipy.json: what SciPy says of the inputs of tests/inside/statistics.rs.

    pip install scipy==1.17.1
    python tests/statistics/make_scipy.py
"""

import json
import pathlib
import random

import numpy
from scipy import stats

rng = random.Random(7)


def pairs(count, shift, spread):
    a = [round(rng.random(), 4) for _ in range(count)]
    b = [round(x + shift + spread * rng.gauss(0, 1), 4) for x in a]
    return a, b


def holm(p):
    order, last, adjusted = sorted(range(len(p)), key=lambda at: p[at]), 0.0, [0.0] * len(p)
    for step, at in enumerate(order):
        last = max(last, min(1.0, p[at] * (len(p) - step)))
        adjusted[at] = last
    return adjusted


def z_test(hits_a, all_a, hits_b, all_b):
    # A 2 x 2 chi-squared test without correction is the square of the pooled z-test.
    table = [[hits_a, all_a - hits_a], [hits_b, all_b - hits_b]]
    return stats.chi2_contingency(table, correction=False).pvalue


t_tests = [pairs(*how) for how in
           [(2, 0.1, 0.1), (3, 0, 1), (10, 0.05, 0.1), (50, 0, 0.1), (200, 0.02, 0.1),
            (300, 0.05, 0.02), (40, -0.5, 0.1)]]
proportions = [(3, 10, 7, 10), (120, 1000, 90, 1000), (1, 50000, 30, 40000), (500, 1000, 500, 1000),
               (9000, 10000, 1000, 10000), (5, 7, 2, 90)]
families = [[0.01, 0.04, 0.03, 0.005], [0.5], [0.9, 0.9, 0.2, 0.04, 0.04], [1e-300, 0.02, 1.0]]
few = [[0.41, 0.43, 0.4], [1.0, 2.0], [0.3, 0.31, 0.29, 0.35, 0.33, 0.3, 0.28, 0.36, 0.3, 0.31]]



def of_pairs(a, b):
    differences = numpy.subtract(a, b)
    interval = stats.bootstrap((differences,), numpy.mean, method="percentile", n_resamples=200000,
                               rng=numpy.random.default_rng(7)).confidence_interval
    return {
        "a": a,
        "b": b,
        "t_test": float(stats.ttest_rel(a, b).pvalue),
        "pearson": float(stats.pearsonr(a, b).statistic),
        "bootstrap": [float(end) for end in interval],
    }


expected = {
    "made_with": "SciPy 1.17.1",
    "pairs": [of_pairs(a, b) for a, b in t_tests],
    "z_test": [{"counts": of, "p": float(z_test(*of))} for of in proportions],
    "holm": [{"p": p, "adjusted": holm(p)} for p in families],
    "mean_interval": [
        {"values": v, "interval": [float(x) for x in stats.t.interval(
            0.95, len(v) - 1, loc=numpy.mean(v), scale=stats.sem(v))]} for v in few],
}
path = pathlib.Path(__file__).with_name("scipy.json")
path.write_text(json.dumps(expected, separators=(",", ":")).replace("},{", "},\n{") + "\n")
print(path, path.stat().st_size, "bytes")
