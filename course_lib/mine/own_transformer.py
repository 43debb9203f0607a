"""The learner's own transformer at work: their joined answers as a model to train, if each passes a trial step.

own = own_transformer(config, device)       # own.told: one line about what is borrowed model = own.model(like,
dropout=0.1)        # with the weights of the library's `Transformer` ...                                         #
train it own.give_back(model, like)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.configurations import TransformerConfig
from course_lib.learner.transformer_pieces import PIECES
from course_lib.mine.joining import NAME, Joined, join_answers
from course_lib.mine.whole import course_code, kept_answers
from course_lib.models import Transformer
from course_lib.objectives.losses import translation_loss
from course_lib.references.heads_and_blocks import one_by_one
from course_lib.text.batches import TranslationBatch
from course_lib.text.tokenization import PADDING_ID
from course_lib.training.precision import Precision, autocast, precision_for

SLOWEST = 5
"""A learner's piece may make a step at most this many times as slow as the library's."""

_SEARCH = "decoding.greedy"
"""The piece that is not part of the trained model."""

_NOT_YET = "not passed yet"

_SCALE = 2.0**10
"""The factor of losses when gradients are computed, so that fp16 can hold small ones."""


@dataclass(frozen=True)
class OwnTransformer:
    """A transformer made of the learner's answers, and of the course's if theirs are missing or fail.

    Attributes:
        make: makes a model with these sizes, in post-norm.
        whose: whose classes it uses, for the title of a figure.
        told: one line that says how many of its pieces are the learner's, and which are borrowed and why.
    """

    make: Callable[[TransformerConfig], nn.Module]
    whose: str
    told: str

    def model(self, like: Transformer, dropout: float) -> nn.Module:
        """Return a model with the sizes and the weights of the library's."""
        made, weights = self.make(replace(like.config, dropout=dropout)), like.state_dict()
        made.load_state_dict(weights if isinstance(made, Transformer) else split_projections(weights))
        return made

    def give_back(self, model: nn.Module, like: Transformer) -> None:
        """Load a model's weights into the library's, which caches keys and values when it translates."""
        weights = model.state_dict()
        like.load_state_dict(
            weights if isinstance(model, Transformer) else join_projections(weights, like.state_dict())
        )


def own_transformer(config: TransformerConfig, device: torch.device | str) -> OwnTransformer:
    """Return the learner's transformer, made of answers that passed their checks and a trial step.

    In the trial it takes one training step with the library's weights, and must get the same loss and gradients in at
    most `SLOWEST` times the time. If it does not, each of the learner's pieces is tried alone among the course's, and
    those that fail are replaced.

    Args:
        config: the sizes of the model to train.
        device: where to train it.
    """
    if find_spec("course_lib.exercises") is None:
        return _librarys("where grades are given")
    return chosen(kept_answers(), course_code(), Trial(config, torch.device(device), "auto"))


def chosen(answers: Mapping[str, str], course: Mapping[str, str], trial: Trial) -> OwnTransformer:
    """Return the transformer made of those answers that pass the trial."""
    answers = {one: code for one, code in answers.items() if one in PIECES and one != _SEARCH}
    failed: dict[str, str] = {}
    joined = join_answers(answers, course)[0]
    if not joined.text:
        missing = ", ".join(piece.name for piece in joined.pieces if not piece.text)
        return _librarys(f"{missing} cannot be borrowed in this course")
    if answers and (why := trial.failure(joined.text)):
        for one, code in answers.items():
            if failure := trial.failure(join_answers({one: code}, course)[0].text):
                failed[one] = failure
        joined = join_answers({one: code for one, code in answers.items() if one not in failed}, course)[0]
        if not failed or trial.failure(joined.text):
            failed = dict.fromkeys(answers, why)
            joined = join_answers({}, course)[0]
    namespace = _run(joined.text)
    return OwnTransformer(lambda config: _model(namespace, config), *_whose(joined, failed, f"{trial}"))


class Trial:
    """A training step of the library's transformer, to compare with."""

    def __init__(
        self, config: TransformerConfig, device: torch.device, precision: Precision, slowest: float = SLOWEST
    ) -> None:
        """Take the step with random weights of these sizes, without dropout.

        Args:
            config: the sizes.
            device: where to compute.
            precision: the precision of the arithmetic.
            slowest: how many times the library's time a step may take.
        """
        self.slowest, self.device = slowest, device
        self.precision = precision_for(device) if precision == "auto" else precision
        generator = torch.Generator().manual_seed(0)
        first = PADDING_ID + 1
        source = torch.randint(first, config.source_vocab_size, (32, 16), generator=generator)
        target = torch.randint(first, config.target_vocab_size, (32, 13), generator=generator)
        source[::3, 9:] = target[::4, 6:] = PADDING_ID
        self.batch = TranslationBatch(source, target).to(device)
        with torch.random.fork_rng():
            self.model = Transformer(replace(config, dropout=0.0, attention_dropout=0.0, norm_first=False)).to(device)
        self.loss, self.gradients, self.seconds = self._step(self.model)

    def failure(self, text: str) -> str:
        """Say what is wrong with a joined file, in a few words; empty if nothing is.

        Args:
            text: the content of the file, which is run.
        """
        try:
            model = _model(_run(text), self.model.config)
            model.load_state_dict(split_projections(self.model.state_dict()))
            loss, gradients, seconds = self._step(model.to(self.device))
            if missing := [name for name, _ in model.named_parameters() if name not in gradients]:
                return f"{missing[0]} gets no gradient"
            tolerance = 1e-3 if self.precision == "fp32" else 0.1
            if not abs(loss - self.loss) <= tolerance * self.loss:  # NaN fails this test, too
                return f"its loss is {loss:.3f}, and the library's {self.loss:.3f}"
            expected = _in_a_row(self.gradients)
            if not (_in_a_row(gradients) - expected).norm() <= tolerance * expected.norm():
                return "its gradients are not the library's"
        except Exception as error:  # a student's code may raise anything
            return f"it raises {type(error).__name__}: {f'{error}'.strip().partition(chr(10))[0]}"
        slower = seconds / self.seconds
        return f"it takes {slower:.0f} times as long as the library's" if slower > self.slowest else ""

    def _step(self, model: nn.Module) -> tuple[float, dict[str, Tensor], float]:
        """Return the loss, the gradients with separate projections, and the shortest processor time of three runs."""
        seconds = []
        for _ in range(3):
            model.zero_grad()
            began = time.process_time()
            with autocast(self.device, self.precision):
                loss = translation_loss(model.train(), self.batch)
            (loss * _SCALE).backward()
            found = loss.item()  # waits for the device
            seconds.append(time.process_time() - began)
        gradients = {name: weight.grad for name, weight in model.named_parameters() if weight.grad is not None}
        return found, split_projections(gradients) if isinstance(model, Transformer) else gradients, min(seconds)

    def __str__(self) -> str:
        return f"{self.precision} on {self.device.type}"


def _in_a_row(gradients: Mapping[str, Tensor]) -> Tensor:
    return torch.cat([gradients[name].float().flatten() for name in sorted(gradients)])


def split_projections(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the library's `Transformer` weights with separate projections, and the target's embedding once."""
    return one_by_one({name: tensor for name, tensor in weights.items() if name != "output.weight"})


def join_projections(weights: Mapping[str, Tensor], like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `split_projections`.

    Args:
        weights: weights with separate projections.
        like: weights of the library's `Transformer`, whose names decide what to join.
    """
    found: dict[str, Tensor] = {}
    for name in like:
        one = "target_embedding.weight" if name == "output.weight" else name
        before, joined, kind = one.partition(".W_qkv." if ".W_qkv." in one else ".W_kv.")
        letters = joined.strip(".").removeprefix("W_")
        parts = [weights[f"{before}.W_{letter}.{kind}"] for letter in letters] if joined else [weights[one]]
        found[name] = torch.cat(parts)
    return found


def _run(text: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": NAME}
    exec(compile(text, f"{NAME}.py", "exec"), namespace)
    return namespace


def _model(namespace: Mapping[str, Any], config: TransformerConfig) -> nn.Module:
    """Return a model from a joined file, with dropout where the paper has it (section 5.4)."""
    base: Any = namespace["Transformer"]

    class Own(base):  # type: ignore[misc]
        def embed_source(self, ids: Tensor) -> Tensor:
            return F.dropout(super().embed_source(ids), config.dropout, self.training)

        def embed_target(self, ids: Tensor) -> Tensor:
            return F.dropout(super().embed_target(ids), config.dropout, self.training)

    words = config.source_vocab_size, config.target_vocab_size
    model: Any = Own(*words, config.d_model, config.heads, config.d_ff, config.encoder_layers)
    if config.shared_embeddings:
        model.source_embedding.weight = model.target_embedding.weight
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = config.dropout
    made: nn.Module = model
    return made


def _librarys(why: str) -> OwnTransformer:
    told = f"Your transformer: the library's Transformer is used instead, because {why}."
    return OwnTransformer(Transformer, "the library's", told)


def _whose(joined: Joined, failed: Mapping[str, str], where: str) -> tuple[str, str]:
    """Return whose its pieces are, for a title and as one line."""
    pieces = [piece for piece in joined.pieces if piece.exercise_id != _SEARCH]
    own = sum(piece.own for piece in pieces)
    if own == len(pieces):
        return "your classes", f"Your transformer: all {own} pieces are your own."
    reasons: dict[str, list[str]] = {}
    for piece in pieces:
        if piece.exercise_id in failed:
            why = f"in a trial step ({where}) {failed[piece.exercise_id]}"
        else:
            why = piece.problem or _NOT_YET
        if not piece.own:
            reasons.setdefault(why, []).append(piece.name)
    if reasons.keys() == {_NOT_YET} and not own:
        told = "Your transformer: all pieces are borrowed from the course, until yours have passed."
        return "the course's classes", told
    lent = "; ".join(f"{', '.join(names)} ({why})" for why, names in reasons.items())
    whose = f"your classes, {len(pieces) - own} of {len(pieces)} pieces borrowed" if own else "the course's classes"
    return whose, f"Your transformer: {own} of its {len(pieces)} pieces are your own. Borrowed: {lent}."
