"""Makes the answer keys of a course, once for each set of hidden inputs."""

import hashlib
import hmac
from collections.abc import Mapping

from course_lib.judging.answer_key import AnswerKey
from course_lib.judging.compare import OF_DTYPE, Tolerance
from course_lib.judging.exercise import Exercise

SLOTS = 32
"""Number of sets of hidden inputs in a class: too many to memorize, few enough to keep the expected results."""

NO_TOLERANCES: Mapping[str, Tolerance] = {}
"""How close to the reference answers must be by default."""


class AnswerKeys:
    """The answer keys of a course. Keeps the hidden part of one slot at a time.

    Hidden inputs depend only on the course's secret, the exercise and the student's slot, so a regrade repeats
    exactly, and nobody can know them beforehand. Grading slot by slot makes each key once. The keys of all slots,
    with the results of references and known mistakes, would take some hundred megabytes.
    """

    def __init__(self, secret: bytes, tolerances: Mapping[str, Tolerance] = NO_TOLERANCES) -> None:
        """Make no key yet.

        Args:
            secret: the course's secret.
            tolerances: how close to the reference answers must be, by exercise, where the course says so.
        """
        self._secret = secret
        self._tolerances = tolerances
        self._public: dict[str, AnswerKey] = {}
        self._slot = -1
        self._with_hidden: dict[str, AnswerKey] = {}

    def key(self, exercise: Exercise, student: str) -> AnswerKey:
        """Return the key for one student's answer to an exercise."""
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
        """Return which of the class's sets of hidden inputs a student gets."""
        return self._number(f"student {student}") % SLOTS

    def seed(self, exercise: str, slot: int) -> int:
        """Return the 256-bit seed of an exercise's hidden inputs in a slot."""
        return int.from_bytes(self._digest(f"exercise {exercise} slot {slot}"), "big")

    def box_seed(self, student: str) -> int:
        """Return the seed for random numbers in a student's sandboxes: different for each student, the same in every
        run.
        """
        return self._number(f"box of {student}") >> 1  # torch's seeds have 63 bits

    def _number(self, text: str) -> int:
        return int.from_bytes(self._digest(text)[:8], "big")

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self._secret, text.encode(), hashlib.sha256)
