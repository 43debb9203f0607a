"""The primer, run."""

from tests.solutions.executing import ExecutedLesson, table


class TestPrimer(ExecutedLesson):
    lesson = "000_primer"
    prints = (
        "loss 9.0",
        "the gradient for cat: -6.",
        "after a second backward(): tensor([-12., -12.])",
        "dance[..., 0]: [3, 4]",
        "if 1 is right: tensor(2.1269)",
        "Pair: 4.",
        "Listed: 0.",
        "cat, danced, slept: tensor([[ 2.",
    )

    def test_evenings_are_learned_by_heart(self, output: str) -> None:
        right = table(r"^right on the (training|test) set: ([\d.]+)%", output)
        assert right["training"] == [100]
        assert 60 < right["test"][0] < 95
