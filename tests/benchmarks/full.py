"""How much of a benchmark runs, and tables as docs/measured.md has them."""

import os

FULL = os.environ.get("BENCH_FULL", "") == "1"
"""All seeds and all jobs, with the values that must be reached asserted; minutes to hours."""

SEEDS = tuple(range(42, 42 + int(os.environ.get("BENCH_SEEDS", "10" if FULL else "1"))))
"""The seeds of the published experiments."""


def say(text):
    """Print past the captured output of a test."""
    print(f"\n{text}")  # noqa: T201


def table(heads, rows):
    """A table in markdown; numbers come as texts."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def mean(values):
    """The mean; at least one value."""
    values = list(values)
    return sum(values) / len(values)


def percentile(found, share):
    """The value at that share of sorted values, which are at least one."""
    return found[min(len(found) - 1, int(len(found) * share))]
