"""Limits as values: what an exercise may use instead, and how sizes are told."""

import pytest

from autograder.limits import NO_ALLOWANCE, Allowance, Limits, size


def test_an_allowance_changes_what_it_names_and_nothing_else() -> None:
    limits = Limits()
    assert NO_ALLOWANCE.applied(limits) == limits
    assert Allowance(call_seconds=20, memory_bytes=4 << 30).applied(limits) == Limits(
        call_seconds=20, memory_bytes=4 << 30
    )
    assert Allowance(output_bytes=5).changes() == {"output_bytes": 5}


def test_the_clock_on_the_wall_stands_ten_times_as_far_and_at_least_a_minute() -> None:
    limits = Limits()
    assert [limits.wall(seconds) for seconds in (1, limits.cell_seconds, limits.submission_seconds)] == [60, 100, 600]
    assert Limits(wall_factor=2, wall_seconds=5).wall(1) == 5


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (2 << 30, "2 GB"),
        (3 << 29, "1.5 GB"),
        (256 << 20, "256 MB"),
        (1 << 20, "1 MB"),
        (2000, "1.95 kB"),
        (101, "101 bytes"),
    ],
)
def test_sizes_are_told_in_the_units_in_which_they_are_set(count: int, words: str) -> None:
    assert size(count) == words


@pytest.mark.parametrize(
    ("count", "words"), [(999, "999 bytes"), (1499, "1 kB"), (50_000_000, "50 MB"), (2_100_000_000, "2100 MB")]
)
def test_files_are_told_in_decimal_units(count: int, words: str) -> None:
    assert size(count, decimal=True) == words
