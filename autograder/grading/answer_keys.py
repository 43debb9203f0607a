"""The answer keys of a course, made once for each set of hidden inputs."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping

from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.compare import OF_DTYPE, Tolerance
from course_lib.judging.exercise import Exercise

SLOTS = 32
"""Students share this many sets of hidden inputs: nothing to memorize, and expected results can be kept."""

NO_TOLERANCES: Mapping[str, Tolerance] = {}
"""How near answers must be where a course says nothing else."""


class AnswerKeys:
    """The answer keys of a course; the hidden part of one slot is kept, until another slot needs its own.

    Hidden inputs follow from the course's secret, the exercise and the student's slot, so that a regrade
    repeats exactly and nobody can know them beforehand. Grading slot by slot makes each key once, and holds those
    of one slot at a time: with what the references and the known mistakes return, the keys of all slots are some
    hundred megabytes.
    """

    def __init__(self, secret: bytes, tolerances: Mapping[str, Tolerance] = NO_TOLERANCES) -> None:
        """No key is made yet.

        Args:
            secret: the course's.
            tolerances: how near to the reference answers must be, where the course says otherwise, by exercise.
        """
        self._secret = secret
        self._tolerances = tolerances
        self._public: dict[str, AnswerKey] = {}
        self._slot = -1
        self._with_hidden: dict[str, AnswerKey] = {}

    def key(self, exercise: Exercise, student: str) -> AnswerKey:
        """The key for one student's answer to an exercise."""
        slot = self.slot(student)
        if slot != self._slot:
            self._slot, self._with_hidden = slot, {}
        if exercise.id not in self._public:
            tolerance = self._tolerances.get(exercise.id, OF_DTYPE)
            self._public[exercise.id] = AnswerKey(exercise, tolerance=tolerance)
        if exercise.id not in self._with_hidden:
            self._with_hidden[exercise.id] = self._public[exercise.id].with_hidden(self.seed(exercise.id, slot))
        return self._with_hidden[exercise.id]

    def slot(self, student: str) -> int:
        """Which of the class's sets of hidden inputs a student gets."""
        return self._number(f"student {student}") % SLOTS

    def seed(self, exercise: str, slot: int) -> int:
        """The seed of an exercise's hidden inputs in one of the sets, of 256 bits."""
        return int.from_bytes(self._digest(f"exercise {exercise} slot {slot}"), "big")

    def box_seed(self, student: str) -> int:
        """The seed of the random numbers that a student's sandboxes draw: another for each, the same in every run."""
        return self._number(f"box of {student}") >> 1  # torch's seeds have 63 bits

    def _number(self, text: str) -> int:
        return int.from_bytes(self._digest(text)[:8], "big")

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self._secret, text.encode(), hashlib.sha256)
