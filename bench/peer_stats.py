# SPDX-License-Identifier: MIT
"""peer_stats.py DIR: the rows of `stats measure DIR` by statsmodels, scipy, arch and apache/otava, what of them is installed.

A line a row: its name, the peer, median microseconds of processor time of a warm call, and the answers, by tabs.
"""
import os
import sys
import time
import warnings

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy is there

import numpy as np

folder = sys.argv[1]


def read(name):
    with open(os.path.join(folder, name), encoding="ascii") as lines:
        return [np.array([float(x) for x in line.split()]) for line in lines]


def row(name, peer, calls, call, numbers_of, seconds=0.3):
    """`call` with the number of each series; a pass makes them all. The middle one of the passes that there is time for."""
    warnings.simplefilter("ignore")  # statsmodels asks for its own to be shown
    numbers_of(call(0))
    took, start = [], time.perf_counter()
    while not took or time.perf_counter() - start < seconds:
        began = time.process_time_ns()
        got = [call(i) for i in range(calls)]
        took.append((time.process_time_ns() - began) / 1e3 / calls)
    answers = [x for each in got for x in numbers_of(each)]
    print(name, peer, f"{sorted(took)[len(took) // 2]:.5f}", *(f"{float(x):.17g}" for x in answers), sep="\t", flush=True)


def have(module):
    try:
        return __import__(module, fromlist=["x"])
    except ImportError:
        print(f"skipped: {module} (not installed)", file=sys.stderr)
        return None


def of_statsmodels():
    tools = have("statsmodels.tsa.stattools")
    if not tools:
        return
    for n in (50, 250, 1000, 10000):
        x = read(f"ar-{n}")
        row(f"adf-{n}", "statsmodels", len(x), lambda i: tools.adfuller(x[i]), lambda a: (a[0], a[2]))
    x = read("ar-1000")[0]
    row("rolling-adf", "statsmodels", 100, lambda i: tools.adfuller(x[i:i + 50]), lambda a: (a[0], a[2]))
    x = read("ar-250")
    row("kpss", "statsmodels", len(x), lambda i: tools.kpss(x[i], nlags="auto"), lambda a: a[:3])


ORDERS = ((1, 1, 1), (1, 0, 0), (0, 1, 1), (2, 1, 2))


def of_statsmodels_arima():
    model = have("statsmodels.tsa.arima.model")
    if not model:
        return
    x = read("ar-50")
    row("arima", "statsmodels", len(x), lambda i: [model.ARIMA(x[i], order=order).fit() for order in ORDERS], lambda a: [fit.llf for fit in a])


def of_arch():
    unitroot = have("arch.unitroot")
    if not unitroot:
        return

    def adf(series):
        test = unitroot.ADF(series, trend="c", method="aic")
        return test.stat, test.lags

    for n in (50, 250, 1000, 10000):
        x = read(f"ar-{n}")
        row(f"adf-{n}", "arch", len(x), lambda i: adf(x[i]), lambda a: a)


def of_scipy():
    stats = have("scipy.stats")
    if not stats:
        return
    x = read("ar-250")
    following = x[1:] + x[:1]
    row("levene", "scipy", len(x), lambda i: stats.levene(x[i], following[i]), lambda a: (a.statistic, a.pvalue))
    row("ks", "scipy", len(x), lambda i: stats.ks_2samp(x[i], following[i]), lambda a: (a.statistic, a.pvalue))
    row("t-interval", "scipy", len(x),
        lambda i: stats.t.interval(0.95, len(x[i]) - 1, loc=x[i].mean(), scale=x[i].std(ddof=1) / len(x[i]) ** 0.5), lambda a: a)


def of_otava():
    calculator = have("otava.change_point_divisive.calculator")
    if not calculator:
        return
    x = read("steps-1000")
    row("e-divisive", "otava", len(x), lambda i: calculator.PairDistanceCalculator(x[i]).get_candidate_change_point(slice(None)), lambda a: (a.index, a.qhat))


for each in (of_statsmodels, of_statsmodels_arima, of_arch, of_scipy, of_otava):
    each()
