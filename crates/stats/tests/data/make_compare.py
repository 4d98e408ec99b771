# Writes compare.tsv: reference values of scipy and numpy for the tests of the statistics.
# python3 -m venv venv && venv/bin/pip install scipy==1.17.1 && venv/bin/python make_compare.py > compare.tsv
from itertools import combinations
from scipy import stats
import numpy as np

def row(*cells):
    print("\t".join(c if isinstance(c, str) else repr(float(c)) for c in cells))

def values(xs):
    return ",".join(repr(float(x)) for x in xs)

print("# scipy 1.17.1, made by make_compare.py")
for x in [-30, -8.5, -5, -2.6, -2.5, -2.4, -1, -1e-9, 0, 0.3, 1.96, 2.49, 2.51, 4, 7]:
    row("normal_cdf", x, stats.norm.cdf(x))
for df in [1, 2, 3.7, 4, 8, 17.3, 30, 1000, 1e6]:
    for t in [0, 0.1, 1, 2.78, 5.6, 40]:
        row("t_two_sided", t, df, 2 * stats.t.sf(t, df))
    for p in [0.0005, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9972]:
        row("t_quantile", p, df, stats.t.ppf(p, df))
rng = np.random.default_rng(7)
for n, m in [(2, 3), (5, 5), (10, 4), (30, 30)]:
    a, b = rng.normal(0, 1, n).round(6), rng.normal(0.7, 2, m).round(6)
    w = stats.ttest_ind(a, b, equal_var=False)
    row("welch", values(a), values(b), w.statistic, w.df, w.pvalue)
    u = stats.mannwhitneyu(a, b, method="exact")
    row("mann_whitney_exact", values(a), values(b), u.statistic, u.pvalue)
for n, m in [(6, 9), (40, 50)]:
    a, b = rng.integers(0, 9, n), rng.integers(1, 10, m)
    u = stats.mannwhitneyu(a, b, method="asymptotic")
    row("mann_whitney_normal", values(a), values(b), u.statistic, u.pvalue)
for n, m in [(4, 4), (5, 5), (6, 4)]:
    a, b = rng.normal(0, 1, n).round(6), rng.normal(0.7, 1, m).round(6)
    d = np.sort(np.subtract.outer(b, a).ravel())
    us = sorted(sum(1 for i in c for j in range(n + m) if j not in c and i > j) for c in combinations(range(n + m), n))
    k = max(k for k in range(n * m) if sum(u <= k - 1 for u in us) / len(us) <= 0.025)
    row("shift", values(a), values(b), np.median(d), d[k - 1], d[n * m - k])
for p in [[0.01, 0.04, 0.03, 0.005], [0.2, 0.2, 0.9], [0.0001, 0.02, 0.021, 0.3, 1.0]]:
    order = np.argsort(p)
    adjusted, before = [0.0] * len(p), 0.0
    for k, i in enumerate(order):
        before = max(before, min(1.0, p[i] * (len(p) - k)))
        adjusted[i] = before
    row("holm", values(p), values(adjusted))
