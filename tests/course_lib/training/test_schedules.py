"""Learning rates, step by step."""

import pytest

from course_lib.training.schedules import (
    constant_schedule,
    cosine_schedule,
    inverse_root_schedule,
    linear_schedule,
    paper_schedule,
)


def test_the_papers_rises_to_its_peak_and_falls_with_the_root() -> None:
    rate = paper_schedule(d_model=512, warmup=4000)
    assert rate(4000) == pytest.approx(6.987e-4, rel=1e-3)
    assert rate(1000) == pytest.approx(rate(4000) / 4)
    assert rate(16_000) == pytest.approx(rate(4000) / 2)


def test_the_papers_can_be_scaled() -> None:
    assert paper_schedule(512, 4000, factor=2)(7) == pytest.approx(2 * paper_schedule(512, 4000)(7))


def test_the_inverse_root_is_the_papers_with_its_peak_named() -> None:
    ours, papers = inverse_root_schedule(peak=(512 * 4000) ** -0.5, warmup=4000), paper_schedule(512, 4000)
    for step in (1, 3999, 4000, 4001, 50_000):
        assert ours(step) == pytest.approx(papers(step))


def test_the_linear_one_ends_at_nearly_nothing() -> None:
    rate = linear_schedule(peak=1.0, warmup=10, steps=100)
    assert [rate(step) for step in (1, 5, 10)] == pytest.approx([0.1, 0.5, 1.0])
    assert rate(100) == pytest.approx(1 / 91)
    assert all(rate(step) > rate(step + 1) > 0 for step in range(10, 100))


def test_the_cosine_is_halfway_down_in_the_middle() -> None:
    rate = cosine_schedule(peak=1.0, warmup=10, steps=110, least=0.2)
    assert [rate(step) for step in (1, 10, 60, 110, 200)] == pytest.approx([0.1, 1.0, 0.6, 0.2, 0.2])
    assert rate(20) > 0.95  # flat at first


def test_behind_the_last_step_the_rate_stays_what_it_was_or_nothing() -> None:
    assert linear_schedule(2.0, 3, 10)(25) == 0
    assert cosine_schedule(2.0, 3, 10, 0.5)(25) == 0.5
    assert [cosine_schedule(2.0, 3, 3, 0.5)(step) for step in (3, 4)] == [2.0, 0.5]


def test_the_constant_one_is_constant() -> None:
    assert {constant_schedule(0.3)(step) for step in (1, 10, 10_000)} == {0.3}
