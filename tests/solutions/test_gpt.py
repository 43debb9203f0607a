"""Lesson 07, run: what its prose leans on, with room for other machines."""

import re

import pytest
from nbformat import NotebookNode

from tests.solutions.executing import ExecutedLesson, numbers


class TestGPT(ExecutedLesson):
    lesson = "07_gpt"
    pictures = 10
    prints = ("NameError: name 'encoder_layers' is not defined",)

    def test_torchs_parts_give_the_same_to_numerical_precision(self, output: str) -> None:
        for precision, most in (("float32", 1e-5), ("float64", 1e-13)):
            difference, unit = numbers(
                rf"torch\.{precision}: .* largest difference ([\de.+-]+), last digit ([\de.+-]+)", output
            )
            assert difference < min(most, 50 * unit)

    def test_gpt_2_is_counted_and_its_printed_sizes_explained(self, output: str) -> None:
        for layers, right, printed in (
            (12, 124_439_808, 117),
            (24, 354_823_168, 345),
            (36, 774_030_080, 762),
            (48, 1_557_611_200, 1542),
        ):
            assert re.search(rf"{layers} +{printed}M +{right:,} .* = {printed}M", output)

    def test_packed_documents_do_not_see_each_other(self, output: str) -> None:
        assert numbers(r"your mask: the second document differs from itself alone by (\S+)", output)[0] < 1e-6
        assert numbers(r"a causal mask: the second document differs from itself alone by (\S+)", output)[0] > 0.01

    def test_only_the_mask_keeps_what_is_above_the_diagonal_still(self, output: str) -> None:
        assert numbers(r"with the mask: the largest change above the diagonal is (\S+)", output)[0] < 1e-4
        assert numbers(r"without: the largest change above the diagonal is (\S+)", output)[0] > 1e-3

    def test_gpt_2s_weights_run_in_the_students_model(self, output: str) -> None:
        assert numbers(r"largest difference from the library's ([\d.e+-]+)", output)[0] < 1e-4
        assert re.search(r"[\d,]+ numbers loaded", output)

    def test_no_text_quotes_what_training_gives(self, solved: NotebookNode) -> None:
        prose = "\n".join(cell.source for cell in solved.cells if cell.cell_type == "markdown")
        assert not re.search(r"\d+(\.\d+)? ?%", prose)


@pytest.mark.usefixtures("thorough")
class TestWhatGPTLearns:
    lesson = TestGPT.lesson

    def test_the_loss_hits_zero_without_a_mask(self, output: str) -> None:
        honest, best = numbers(r"held-out loss: with the mask ([\d.]+), best possible ([\d.]+)", output)
        elsewhere, last = numbers(
            r"without the mask: ([\d.]+) at all positions except the last, ([\d.]+) at the last", output
        )
        assert best < honest < best + 0.25
        assert elsewhere < 0.1
        assert last > honest

    def test_only_the_honest_model_can_write(self, output: str) -> None:
        right, new = numbers(r"with the mask: (\d+)% of the sentences are right, (\d+)% of these are new", output)
        cheats = numbers(r"without: (\d+)% of the sentences are right", output)[0]
        assert right > 65
        assert new > 80
        assert cheats < 20

    def test_a_repetition_is_not_noticed(self, output: str) -> None:
        first, *later = numbers("^loss in each round of a repetition:" + 5 * r" ([\d.]+)" + " nats", output)
        assert min(later) > 0.85 * first

    def test_zero_shot(self, output: str) -> None:
        assert numbers(r"zero-shot accuracy: ([\d.]+)", output)[0] > 0.9

    def test_fine_tuning(self, output: str, seed: int) -> None:
        after = {
            (name, int(epoch)): tuple(map(float, found))
            for name, epoch, *found in re.findall(
                r"^(new|pre-trained.*), after epoch (\d): labeled tokens ([\d.]+), other tokens ([\d.]+), "
                r"language model ([\d.]+)$",
                output,
                flags=re.M,
            )
        }
        new, tuned, auxiliary = (after[name, 3] for name in ("new", "pre-trained", "pre-trained, auxiliary loss"))
        assert min(new[0], tuned[0], auxiliary[0]) > 0.9, "all learn the tokens that they were shown"
        assert new[1] < 0.75 < 0.85 < tuned[1], "only pre-training helps with the others"
        if seed != 2:
            assert auxiliary[2] < tuned[2], "the auxiliary loss keeps a better language model"
        else:
            assert max(auxiliary[2], tuned[2]) < 3.1, "neither model gets much worse"
        assert after["pre-trained, auxiliary loss", 1][0] < after["pre-trained", 1][0] + 0.1, "and is no faster"
        assert auxiliary[1] < tuned[1] + 0.1, "nor better in the end"
