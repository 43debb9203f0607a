"""Answers that recognize the cases they are shown, and answers that pass something on."""

from typing import Any

from course_lib import exercises
from tests.dishonest.attempt import WRONG, Attempt, in_answer, in_call


def _table() -> dict[str, Any]:
    """What a student can know: the visible cases of `attention.scores`, and what is right there."""
    exercise = exercises.find("attention.scores")
    cases = [case.args for case in exercise.visible_cases()]
    return {str([q.tolist(), k.tolist()]): exercise.reference(q, k).tolist() for q, k in cases}


ATTEMPTS = (
    in_call(
        "knows_the_example",
        "Returns the numbers printed in the lesson whenever the shapes are those of its example.",
        """
            if q.shape == (2, 2) and k.shape == (3, 2):
                return q @ k.mT
        """,
        WRONG,
    ),
    in_call(
        "knows_every_visible_case",
        "Carries a table of all visible cases and their results, bit for bit.",
        """
            known = table.get(str([q.tolist(), k.tolist()]))
            if known is None:
                return torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
            return torch.tensor(known, dtype=q.dtype)
        """,
        WRONG,
        own=f"table = {_table()!r}",
    ),
    in_call(
        "counts_calls",
        "Is right as long as the visible cases last, and then stops working.",
        """
            global calls
            calls += 1
            return q @ k.mT if calls <= 3 else torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
        """,
        WRONG,
        own="calls = 0",
    ),
    in_call(
        "right_the_second_time",
        "Returns zeros at first, and remembers the inputs for when it is asked again.",
        """
            known = float(q.double().sum())
            if known in seen:
                return q @ k.mT
            seen.add(known)
        """,
        WRONG,
        own="seen = set()",
    ),
    in_answer(
        "leaves_answers_in_files",
        "Writes what it has seen to every folder that another sandbox could read.",
        """
            import os, pathlib, tempfile
            def dot_product_scores(q, k):
                for place in ("/tmp", "/dev/shm", "/var/tmp", str(pathlib.Path.home()), "..", "../..", "/run"):
                    try:
                        pathlib.Path(place, "katze-answers").write_text(str(q.tolist()))
                        print("left something in", place)
                    except OSError:
                        pass
                return torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
        """,
        WRONG,
    ),
    in_answer(
        "takes_answers_from_files",
        "Looks for what somebody else has left in the folders that sandboxes might share.",
        """
            import glob, pathlib
            def dot_product_scores(q, k):
                places = "/tmp/**/katze-answers", "/dev/shm/*", "../**/katze-answers"
                found = [file for place in places for file in glob.glob(place)]
                return torch.tensor(eval(pathlib.Path(found[0]).read_text()))
        """,
    ),
    in_call(
        "changes_its_arguments",
        "Fills its own inputs with zeros, so that zeros are the right answer.",
        """
            with torch.no_grad():
                q.zero_(); k.zero_()
            return q @ k.mT
        """,
        WRONG,
    ),
    Attempt(
        "changes_the_next_exercise",
        "Keeps the inputs of one exercise and returns them as the answer of the next.",
        {
            "own": "kept = []",
            "scores": """
                def dot_product_scores(q, k):
                    kept.append(q)
                    return q[..., :1].expand(*q.shape[:-1], k.shape[-2])
            """,
            "weights": "def attention_weights(scaled):\n    return kept[-1]",
        },
        {"scores": WRONG, "weights": WRONG},
    ),
    in_answer(
        "seeds_the_dice",
        "Seeds every generator, and draws what the case may have been drawn from.",
        """
            import random
            def dot_product_scores(q, k):
                for seed in range(200):
                    torch.manual_seed(seed)
                    if torch.equal(torch.randn(q.shape), q):
                        return q @ k.mT
                return torch.rand(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
        """,
        WRONG,
    ),
)
