"""What a course sets: every limit can be, and nothing else."""

import dataclasses
from typing import Any

import pytest
from traitlets.config.loader import Config

from autograder.course.settings import limits_from, shows_from
from autograder.errors import BadInput
from autograder.limits import Allowance, Limits

INTERNAL = ("frame_bytes", "memory_ceiling_bytes", "system_calls")


def config(**katze: Any) -> Config:
    made = Config()
    made.Katze.update(katze)
    return made


@pytest.mark.parametrize("name", [entry.name for entry in dataclasses.fields(Limits) if entry.name not in INTERNAL])
def test_every_limit_can_be_set(name: str) -> None:
    value = getattr(Limits(), name) + 1
    limits, _ = limits_from(config(limits={name: value}))
    assert getattr(limits, name) == value


def test_a_box_may_use_the_time_of_a_whole_submission_unless_the_course_says_less() -> None:
    assert limits_from(config(limits={"submission_seconds": 120.5}))[0].processor_seconds == 121
    assert limits_from(config(limits={"submission_seconds": 5}))[0].processor_seconds == Limits().processor_seconds
    both = {"submission_seconds": 120, "processor_seconds": 30}
    assert limits_from(config(limits=both))[0].processor_seconds == 30


def test_an_exercise_may_use_more_and_the_box_must_allow_it() -> None:
    settings = {"attention.scores": {"call_seconds": 20}, "masking.causal_mask": {"memory_bytes": 4 << 30}}
    limits, allowances = limits_from(config(limits={"memory_bytes": 1 << 30}, exercise_limits=settings))
    assert allowances == {name: Allowance(**one) for name, one in settings.items()}
    assert (limits.memory_bytes, limits.memory_ceiling_bytes) == (1 << 30, 4 << 30)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"limits": {"cell_second": 5}}, "c.Katze.limits: there is no limit 'cell_second'; there are: memory_bytes, "),
        ({"limits": {"frame_bytes": 5}}, "there is no limit 'frame_bytes'"),
        ({"system_calls": "all"}, "c.Katze.system_calls must be one of 'allow-list', 'deny-list', not 'all'"),
        ({"system_calls": ["allow-list"]}, "not ['allow-list']"),
        ({"limits": {"cell_seconds": 0}}, "cell_seconds must be a number above 0, not 0"),
        ({"limits": {"cell_seconds": float("nan")}}, "above 0, not nan"),
        ({"limits": {"cell_seconds": "10"}}, "must be a number above 0, not '10'"),
        ({"limits": {"cell_seconds": True}}, "must be a number above 0, not True"),
        ({"limits": {"threads": 1.5}}, "threads must be a whole number above 0, not 1.5"),
        ({"limits": {"memory_bytes": 2}}, "memory_bytes must be at least 67108864, not 2"),
        ({"limits": {"output_bytes": 1 << 30}}, "output_bytes must be at most 4194304"),
        ({"limits": [1]}, "c.Katze.limits must be a dict with names for keys, not [1]"),
        ({"exercise_limits": {"a.b": 20}}, "c.Katze.exercise_limits['a.b'] must be a dict"),
        ({"exercise_limits": {"a.b": {"files": 20}}}, "c.Katze.exercise_limits['a.b']: there is no limit 'files'"),
    ],
)
def test_what_is_no_limit_is_refused_in_one_line(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as caught:
        limits_from(config(**settings))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["solutions", "slides"])
def test_a_part_is_shown_unless_the_course_turns_it_off(name: str) -> None:
    assert shows_from(Config(), name)
    assert not shows_from(config(**{name: False}), name)
    with pytest.raises(BadInput, match=f"c.Katze.{name} must be True or False, not 'no'"):
        shows_from(config(**{name: "no"}), name)
