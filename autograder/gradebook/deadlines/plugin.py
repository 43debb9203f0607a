"""nbgrader's own plugin for late penalties, as `nbgrader_config.py` sets it up.

c.AssignLatePenalties.plugin_class = "late.SubMarks"  # late.py in the course's folder
c.LateSubmissionPlugin.penalty_method = "zero"        # or nbgrader's own plugin, with a method
"""

import functools
import math
import sys
from collections.abc import Callable

from autograder.course.course import Course
from autograder.errors import BadInput
from autograder.gradebook.deadlines.lateness import Plugin
from course_lib.exercises.catalogue import CONFIG_NAME

_SECTIONS = ("AssignLatePenalties", "LateSubmissionPlugin")


def plugin_of(course: Course) -> Plugin:
    """Return a function that says what nbgrader would take off a late submission: nothing, unless the course
    configures it.

    The plugin is the course's own code, and runs in this process. It is loaded on first use.

    Raises:
        BadInput: on use: the plugin cannot be loaded, fails, or does not return points.
    """
    if not any(section in course.config for section in _SECTIONS):
        return lambda student, points, seconds: 0.0
    chosen = course.config.get("AssignLatePenalties", {}).get("plugin_class", "LateSubmissionPlugin")
    named = f"nbgrader's plugin for late penalties, {chosen if isinstance(chosen, str) else chosen.__name__},"
    loaded = functools.cache(lambda: _load(course, named))

    def plugin(student: str, points: float, seconds: float) -> float:
        ask = loaded()
        try:
            lost = ask(student, points, seconds)
        except Exception as error:  # the course's own code: it may fail in any way
            raise BadInput(f"{named} fails for {student}: {type(error).__name__}: {error}; fix it") from error
        if lost is None:  # nbgrader's word for no penalty
            return 0.0
        if isinstance(lost, bool) or not isinstance(lost, (int, float)) or not math.isfinite(lost):
            raise BadInput(f"{named} takes {lost!r} off for {student}, which is not a number of points; fix it")
        return float(lost)

    return plugin


def _load(course: Course, named: str) -> Callable[[str, float, float], object]:
    from nbgrader.preprocessors import AssignLatePenalties  # takes a second

    root = str(course.root)
    sys.path.insert(0, root)  # as nbgrader does in the course's folder
    try:
        assign = AssignLatePenalties(config=course.config)
        assign.init_plugin()
    except Exception as error:  # it imports the course's own code
        raise BadInput(f"{named} cannot be loaded: {error}; see {CONFIG_NAME}") from error
    finally:
        sys.path.remove(root)
    found: Callable[[str, float, float], object] = assign.plugin_inst.late_submission_penalty
    return found
