"""Fracast: the package's own call against the project's exact shortcut, equality checked first.

Run: python -m benchmarks.bench_fracast
"""

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from fracast import FracastModel
from numpy.typing import NDArray

from include.domain.forecasts import ForecastRequest
from include.forecast.config import DecodeOptions
from include.forecast.fracast import KEYS, bundled_fracast_engine
from include.forecast.fracast_network import FracastNetwork
from include.forecast.walk_forward import opening_requests
from tests.support.builders_forecast import SESSION_BARS, session_series, session_windows

CONTEXT_BARS, WINDOWS, SYMBOLS, REPEATS, TOLERANCE = 512, 60, 28, 5, 1e-5
RESULT = Path(__file__).parent / "results" / "fracast_cpu_2026-11.md"
OPTIONS = DecodeOptions(n_samples=32, seed=7)


def walk_forward_requests(seed: int) -> list[ForecastRequest]:
    """Return a symbol's 60 opening requests: 512 bars of context, 13 steps, a seeded walk."""
    sessions = WINDOWS + -(-CONTEXT_BARS // SESSION_BARS)
    series = session_series(sessions, symbol=f"S{seed:02}", seed=seed)
    windows = session_windows(sessions)[-WINDOWS:]
    return opening_requests(series, windows, context_bars=CONTEXT_BARS)


def contexts_of(request: ForecastRequest) -> NDArray[np.float32]:
    """Return high, low and close over the last close, shape (3, 512)."""
    values = request.context.values[:, KEYS].T
    relative: NDArray[np.float32] = (values / values[-1, -1]).astype(np.float32)
    return relative


def by_package(model: FracastModel, many: list[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Answer series by series, which is the package's fastest way on a CPU."""
    rows = [model.forecast_batch(row[None], horizon=SESSION_BARS) for c in many for row in c]
    return np.concatenate(rows).reshape(len(many), len(KEYS), SESSION_BARS, -1)


def by_project(model: FracastModel, many: list[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Answer request by request with a network that has kept nothing yet."""
    network = FracastNetwork(model)
    return np.stack([network.quantiles(contexts, SESSION_BARS) for contexts in many])


def largest_difference(model: FracastModel, many: list[NDArray[np.float32]]) -> float:
    """Return the largest difference in normalised units; stop where it is above 1e-5."""
    spans = np.stack([c.max(axis=1) - c.min(axis=1) for c in many])[:, :, None, None]
    difference = np.abs(by_package(model, many) - by_project(model, many)) / spans
    if not difference.max() <= TOLERANCE:
        sys.exit(f"The two differ by {difference.max():.1e}; at most {TOLERANCE:.0e} is allowed.")
    return float(difference.max())


def seconds(run: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def forecast_symbols(seeds: list[int]) -> float:
    """Return the wall time of the engine, paths and keys included, on one thread."""
    torch.set_num_threads(1)
    requests = [request for seed in seeds for request in walk_forward_requests(seed)]
    engine = bundled_fracast_engine()
    return seconds(lambda: engine.forecast(requests, OPTIONS))


def cold_cycle_in_two_processes() -> float:
    """Return the slower half's wall time, each half a process with one thread."""
    halves = [list(range(SYMBOLS))[half::2] for half in range(2)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        return max(pool.map(forecast_symbols, halves))


def one_symbol_lines(model: FracastModel) -> tuple[list[str], float]:
    """Return the table of one symbol's walk-forward set, and the package's seconds a series."""
    many = [contexts_of(request) for request in walk_forward_requests(0)]
    difference = largest_difference(model, many)
    pairs = [
        (seconds(lambda: by_package(model, many)), seconds(lambda: by_project(model, many)))
        for _ in range(REPEATS)
    ]
    theirs, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    series = len(many) * len(KEYS)
    lines = [
        f"Equality, checked first: {series} series of {CONTEXT_BARS} bars, {SESSION_BARS} steps, "
        f"9 quantiles: largest difference {difference:.1e} in normalised units (allowed "
        f"{TOLERANCE:.0e}).",
        "",
        f"One symbol, {WINDOWS} openings, high, low and close, medians of {REPEATS} alternating "
        "runs:",
        "",
        f"| {series} series | seconds | ms a series |",
        "|---|---|---|",
        f"| package, `forecast_batch`, one by one | {theirs:.2f} | {theirs / series * 1e3:.1f} |",
        f"| project, no prefix known yet | {ours:.2f} | {ours / series * 1e3:.1f} |",
        f"| ratio of medians | **{theirs / ours:.1f}x** | |",
    ]
    return lines, theirs / series


def cold_cycle_lines(package_seconds_a_series: float) -> list[str]:
    """Return the table of a cold cycle: two cores, a process each."""
    total = SYMBOLS * WINDOWS * len(KEYS)
    return [
        f"Cold cycle, {SYMBOLS} symbols, two processes with one thread each, {OPTIONS.n_samples} "
        "paths and content keys included:",
        "",
        f"| {total:,} series | seconds |",
        "|---|---|",
        f"| package, extrapolated, quantiles alone | {package_seconds_a_series * total / 2:.0f} |",
        f"| engine, measured once | {cold_cycle_in_two_processes():.1f} |",
    ]


def report() -> str:
    """Measure everything on one thread a process and return it as markdown."""
    torch.set_num_threads(1)
    one_symbol, package_seconds = one_symbol_lines(FracastModel.from_pretrained(weights="fp32"))
    lines = [
        "# Fracast on a CPU: the package's own call against the exact shortcut",
        "",
        f"Command: `python -m benchmarks.bench_fracast`. Machine: {os.cpu_count()} cores, "
        f"{platform.machine()}, one thread a process, "
        f"{torch.backends.cpu.get_cpu_capability()}.",
        f"Versions: Python {platform.python_version()}, torch {version('torch')}, numpy "
        f"{version('numpy')}, fracast {version('fracast')} (fp32 weights of the wheel).",
        "",
        *one_symbol,
        "",
        *cold_cycle_lines(package_seconds),
        "",
        "Bars are a seeded random walk in sessions of 13 half hours. Each distinct set of "
        "detected periods costs one prefix: data with fewer sets is faster, with more slower.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the report and write it to benchmarks/results/."""
    text = report()
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
