# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Measure how much time the library's calls add to the driver's.

The rows are those of ``calls.py``. The driver does nothing (``null_driver.c``), so no GPU is needed, and the time of a
call is entirely the library's. Times are also shown as multiples of an empty Python call. The baseline stores these
ratios, because they are comparable between machines.

    python overhead.py                          print the figures
    python overhead.py --compare baseline.json  also fail if one is more than 30 % above the baseline
    python overhead.py --store baseline.json    also store them as the baseline
    python overhead.py launch record            only measure rows whose names contain one of the words
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import calls
from turns import OURS, timed_loop, working

import native

TOLERANCE = 1.3
# A row that seems slower is measured again, because noise only ever adds time.
ATTEMPTS = 5
# Smaller differences, in multiples of an empty call, are noise.
RESOLUTION = 0.3


def main() -> int:
    arguments = parse_arguments()
    native.load_null_driver()
    rows = working(calls.batches_of(OURS, arguments.rows))
    baseline = json.loads(arguments.compare.read_text()) if arguments.compare else {}

    ratios = {}
    slower = []
    print(f"{'row':44}{'ns':>8}{'empty calls':>13}{'baseline':>10}")
    for name, batch in rows.items():
        stored = baseline.get(name)
        ratio, least = measure(batch, limit(stored))
        ratios[name] = round(ratio, 2)
        if ratio > limit(stored):
            slower.append(name)
        print(f"{name:44}{least:8.0f}{ratio:13.2f}{stored if stored is not None else '-':>10}")
    if not arguments.rows:
        ratios["import cuda.core"] = import_ratio()
        stored = baseline.get("import cuda.core")
        if ratios["import cuda.core"] > limit(stored):
            slower.append("import cuda.core")
        print(f"{'import cuda.core (starts)':44}{'':8}{ratios['import cuda.core']:13.2f}{stored or '-':>10}")

    if arguments.store:
        arguments.store.write_text(json.dumps(ratios, indent=2) + "\n")
    missing = [name for name in baseline if name not in ratios and not arguments.rows]
    for name in slower:
        print(f"slower than the baseline: {name}", file=sys.stderr)
    for name in missing:
        print(f"in the baseline but not measured: {name}", file=sys.stderr)
    return 1 if slower or missing else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the overhead of calls beyond the driver.")
    parser.add_argument("rows", nargs="*", help="words that the names of the rows to measure contain")
    parser.add_argument("--compare", type=Path, help="baseline to compare with")
    parser.add_argument("--store", type=Path, help="where to store the figures as a baseline")
    return parser.parse_args()


def limit(stored: float | None) -> float:
    """Return the highest ratio that does not count as a regression."""
    return float("inf") if stored is None else max(stored * TOLERANCE, stored + RESOLUTION)


def measure(batch: Callable[[], float], limit: float) -> tuple[float, float]:
    """Return the time of a call in empty calls and in nanoseconds, measured again while over the limit."""
    best = compare(batch)
    for _ in range(ATTEMPTS - 1):
        if best[0] <= limit:
            break
        best = min(best, compare(batch))
    return best


def compare(batch: Callable[[], float], repeats: int = 101) -> tuple[float, float]:
    """Return the median ratio to an empty call timed right before, at the same clock rate, and the least time."""
    reference = timed_loop("empty()", calls.BATCH, {"empty": empty})
    pairs = [(reference(), batch()) for _ in range(repeats)]
    return statistics.median(taken / reference for reference, taken in pairs), min(taken for _, taken in pairs)


def empty() -> None:
    """Do nothing. Ratios are multiples of this call."""


def import_ratio() -> float:
    """Return the time to start Python and import the package, as a multiple of the time to start Python."""

    def seconds(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    plain, importing = (min(seconds(code) for _ in range(7)) for code in ("pass", "import cuda.core"))
    return round(importing / plain, 2)


if __name__ == "__main__":
    sys.exit(main())
