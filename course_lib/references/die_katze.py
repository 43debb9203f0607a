"""A whole training run in parts that can be checked by hand: plan, batches, rates, and evaluation.

`course_lib.training.loop` trains and `course_lib.text.batches` makes batches; these functions show how.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

# --- Before ----------------------------------------------------------------------------------------------------


def plan_run(
    tokens: int, batch_tokens: int, accumulate: int, devices: int, epochs: float, warmup_ratio: float
) -> tuple[int, int, int]:
    """Plan a run: tokens per step, number of steps, and steps of warm-up.

    Args:
        tokens: the number of tokens in one pass through the data.
        batch_tokens: the number of tokens in one batch on one device.
        accumulate: the number of batches that each device adds up before the weights change.
        devices: the number of devices that work at the same time, each on its own batches.
        epochs: the number of passes through the data.
        warmup_ratio: the share of warm-up in all steps.

    Returns:
        Tokens per step, steps (the last may be incomplete), and steps of warm-up (at least 1).
    """
    of_a_step = batch_tokens * accumulate * devices
    steps = math.ceil(epochs * tokens / of_a_step)
    return of_a_step, steps, max(1, math.floor(warmup_ratio * steps))


def batches_by_tokens(lengths: Sequence[tuple[int, int]], max_tokens: int) -> list[list[int]]:
    """Put pairs of similar lengths together, as many as fit in a batch; return their numbers.

    Pairs are sorted by source, then by target, then by number; a batch has len(batch) · (longest source + longest
    target) tokens, padding included.

    Args:
        lengths: the lengths of each pair's source and target.
        max_tokens: the most tokens in a batch; a longer pair gets its own batch.
    """
    batches: list[list[int]] = []
    widest = (0, 0)
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        source, target = lengths[i]
        wider = (max(widest[0], source), max(widest[1], target))
        if batches and (len(batches[-1]) + 1) * sum(wider) <= max_tokens:
            batches[-1].append(i)
            widest = wider
        else:
            batches.append([i])
            widest = (source, target)
    return batches


def trapezoid_schedule(
    steps: Int[Tensor, " steps"], total: int, warmup: int, cooldown: int, peak: float
) -> Float[Tensor, " steps"]:
    """Return rates that rise linearly to the peak at step `warmup`, stay, and fall linearly to 0 after the last step.

    rate(step) = peak · min(1, step / warmup, (total + 1 - step) / cooldown)

    Zhai et al. (2022), "Scaling Vision Transformers", section 3.5, where a long flat run is cooled down after several
    lengths.
    """
    numbers = steps.double()
    shares = torch.minimum(numbers / warmup, (total + 1 - numbers) / cooldown).clamp(max=1)
    return (peak * shares).float()


# --- On the way ------------------------------------------------------------------------------------------------


def accumulated_loss(means: Float[Tensor, " batches"], targets: Int[Tensor, " batches"]) -> Float[Tensor, ""]:
    """Return the mean loss over all targets of several batches from their means, as one large batch would have.

    Args:
        means: the mean loss of each batch; NaN if it has no targets.
        targets: the number of targets in each.
    """
    counted = targets > 0
    weights = targets[counted].to(means.dtype) / targets.sum()
    return (means[counted] * weights).sum()


def choose_checkpoint(losses: Sequence[float], patience: int) -> tuple[int, int]:
    """Choose which checkpoint to keep, and after how many measurements to stop.

    Args:
        losses: the losses on the validation data, one for each checkpoint.
        patience: the number of measurements without a new best one after which training ends.

    Returns:
        The number of the best checkpoint, from 0 (the earliest of equals), and the number of measurements.
    """
    best = 0
    for i, loss in enumerate(losses):
        if loss < losses[best]:
            best = i
        if i - best == patience:
            return best, i + 1
    return best, len(losses)


# --- Afterwards ------------------------------------------------------------------------------------------------


def bootstrap_interval(
    counts: Int[Tensor, "sentences kinds"],
    drawn: Int[Tensor, "samples sentences"],
    score: Callable[[Int[Tensor, " kinds"]], float],
) -> tuple[float, float]:
    """Return the scores between which 95 of 100 test sets, drawn with replacement from this one, would lie.

    Koehn (2004), "Statistical Significance Tests for Machine Translation Evaluation".

    Args:
        counts: a row for each sentence, with the counts that the score needs.
        drawn: the numbers of the sentences in each sample.
        score: computes the score of a corpus from the sums of its sentences' counts.

    Returns:
        The 2.5% and 97.5% quantiles of the samples' scores.
    """
    scores = torch.tensor([score(counts[sample].sum(dim=0)) for sample in drawn], dtype=torch.float64)
    low, high = torch.quantile(scores, torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return low, high


STEM = 4
"""The number of first letters that two forms of a word share."""


def sort_error(hypothesis: list[str], reference: list[str]) -> str:
    """Name the error in a translation, as far as possible without knowing what the words mean.

    It is the first of these that holds: "right" (the same words in the same order), "order" (the same words), "form"
    (the same words if only the first four letters count, as with *rote* and *rotem*), "repeated" (a word occurs more
    often than in the reference, though the reference has it), "short" (fewer words than the reference), "word"
    (anything else).

    Args:
        hypothesis: the model's words.
        reference: the right words.
    """
    if hypothesis == reference:
        return "right"
    said, wanted = Counter(hypothesis), Counter(reference)
    if said == wanted:
        return "order"
    if Counter(word[:STEM] for word in hypothesis) == Counter(word[:STEM] for word in reference):
        return "form"
    if any(0 < wanted[word] < times for word, times in said.items()):
        return "repeated"
    return "short" if len(hypothesis) < len(reference) else "word"
