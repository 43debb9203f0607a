# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lesson 11 · Die Katze at full size
#
# For ten lessons you have built parts and tried them on a hundred words. Tonight they run: attention, masks, positions,
# blocks, the encoder-decoder, beam search, byte pairs and BLEU, together in one translator, on real sentences, from a
# download to the ten translations that you would rather not show anybody.
#
# The sentences are captions of photographs. **Multi30k** (Elliott et al., 2016) has 29,000 of them to learn from, English by
# people who saw a photograph, German by professional translators. That is enough for a translator that is worth reading,
# and small enough for one GPU and one evening.
#
# **Two ways through this lesson.** With a GPU (on Colab: *Runtime*, *Change runtime type*, *GPU*) and a network, the same
# cells train the full model on Multi30k. Without one they do the **short form**: 200 steps on captions that were written
# for this course, so that you see a loss fall, and after that they go on with a translator that was trained on the same
# captions for 3,000 steps and comes with the course. All exercises can be done either way, and no grade needs a GPU.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | the plan of a run | 3 | 10 |
# | 2 | batches by tokens | 4 | 20 |
# | 3 | a warmup-stable-decay schedule | 2 | 8 |
# | 4 | one large batch out of small ones | 3 | 10 |
# | 5 | which checkpoint to keep | 3 | 12 |
# | 6 | how sure the score is | 4 | 20 |
# | 7 | what went wrong | 3 | 15 |
# | 8 | a short answer, in words | 3 | 15 |
#
# The full run trains on its own meanwhile; the end of section 3, when the loss has fallen, is a good place to stop for tonight.
#
# Stuck? `hint("die_katze.plan_run")` opens a hint, and with each further call the next one. `solution(...)` shows the
# answer with its reason, once you have tried; `progress()` shows how far you are.

# %%
import dataclasses
import math
import random
import re
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.evaluation.metrics import Texts, bleu
from course_lib.ground.tables import Table
from course_lib.hooks import record_attention
from course_lib.mine import answer
from course_lib.models import Transformer
from course_lib.positions import SinusoidalPositions
from course_lib.scenes.corpora import H100, choose_corpus, kept_folder
from course_lib.scenes.small_translator import load_small_translator
from course_lib.show import BLUE, GREY, INK, ORANGE
from course_lib.text.batches import translation_data
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.timed_merges import TooSlow, first_ids, learn_in_time, vocabulary_of, word_counts
from course_lib.text.tokenization import START_ID
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.precision import precision_for
from course_lib.training.progress import progress_bar
from course_lib.training.recipes import learn_to_translate
from course_lib.training.schedules import inverse_root_schedule

show.use_style()
torch.set_num_threads(1)  # matrices as small as these gain nothing from a second one
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## 1. The data
#
# Every file that this course fetches has an **address that cannot change its content** (a commit, not a branch) and a
# checksum. A file whose checksum is wrong is not used, because a run on half a file looks like any other run, only worse.
# `docs/data.md` in the course's repository lists all of them with sources, licences and sizes.
#
# A runtime on Colab forgets its disk when it ends. If you mount your Google Drive first, checkpoints go there, and data
# files are looked for in its folder `katze`:
#
# ```python
# from google.colab import drive
# drive.mount("/content/drive")
# ```

# %%
corpus = choose_corpus(device)
for pair in random.Random(3).sample(list(corpus.training), 4):
    print(f"  {pair.source}\n      {pair.target}")

# %% [markdown]
# Look at what German does to these sentences. The verb is second in a main clause whatever comes first, and last in a
# subordinate one. *einen roten Mantel* and *in einem roten Mantel* are the same coat in two cases. A prefix leaves its verb
# and waits at the end: *baut ... auf*. None of that is written anywhere. It has to be learned from the pairs.
#
# Beside the part to learn from there is one to validate on, and there are one or two to test. The short form has two
# tests: captions **by rule**, made by the same rules as the training part, and captions **by hand**,
# written one by one, as people write.

# %% tags=["demo"]
parts = {"training": corpus.training, "validation": corpus.validation, **corpus.tests}
known = {word for pair in corpus.training for word in pair.source.lower().split()}


def unknown_share(pairs):
    words = [word for pair in pairs for word in pair.source.lower().split()]
    return sum(word not in known for word in words) / len(words)


Table(
    ("part", "pairs", "words a sentence", "words never seen in training"),
    [
        (
            name,
            f"{len(pairs):,}",
            f"{sum(len(pair.source.split()) for pair in pairs) / len(pairs):.1f}",
            f"{unknown_share(pairs):.1%}",
        )
        for name, pairs in parts.items()
    ],
)

# %% [markdown]
# ### 1.1 Your own pieces
#
# No list of words holds *Donaudampfschifffahrt*. So words are cut into pieces, by the pairs that you learned to join in lesson 08.
# If your answers to it have passed their checks they are used here, and the cell says so. Your `learn_merges` counts all
# pairs anew in every round. That takes seconds on the few words of the short form, and would take an hour on Multi30k. So the
# first twenty rounds are timed, and if all of them together would take more than two minutes, the library does it. It
# finds the same pairs.
#
# Both languages share one vocabulary. It costs nothing, and *Restaurant* need not be learned twice.

# %%
texts = [text for pair in corpus.training for text in (pair.source, pair.target)]
words = word_counts(texts)
try:
    merges = learn_in_time(
        answer("subwords.learn_merges"),
        words,
        corpus.recipe.pieces - len(first_ids(words)),
        seconds=120,
        count=answer("subwords.count_pairs"),
        choose=answer("subwords.most_frequent_pair"),
        join=answer("subwords.merge"),
    )
    pieces = vocabulary_of(words, merges)
    print(f"\nThese learned {len(merges)} pairs from {len(words):,} different words.")
except TooSlow as reason:
    pieces = SubwordVocabulary.train_bpe(texts, corpus.recipe.pieces, split_punctuation=True)
    print(f"\nThe library's: {reason}.")
print(f"There are {len(pieces):,} pieces, for both languages.")

# %% tags=["demo"]
shown = ["A dancer is dancing on the table.", "Eine Tänzerin tanzt auf dem Tisch.", "Ein Eisbär angelt."]
show.piece_rows(
    [(text, [piece.replace("▁", "_") for piece in pieces.tokens(pieces.encode(text))]) for text in shown],
    title="whole words where they are frequent, scraps where they are not",
    alt="Three sentences in pieces: frequent words are whole, and a polar bear who fishes is cut into scraps.",
)

# %% [markdown]
# ## 2. The plan
#
# Before anything runs it is planned on paper. Four numbers make up a plan: how many tokens one step learns from, how many
# steps there are, over how many of them the rate rises, and how often that passes through the data.
#
# A step learns from more than what fits on a GPU at a time. There may be several **devices**, each with a batch of its own.
# And each may **accumulate**: compute the gradients of one batch after another, add them up, and move the weights only then.
# To the weights it is all the same. What counts is the **effective batch**:
#
# $$\text{tokens of a step} = \text{tokens of a batch} \times \text{accumulated batches} \times \text{devices} .$$
#
# The paper's base model read about 25,000 tokens of each language in a step, on eight GPUs, for 100,000 steps, 4,000 of which
# were warm-up. If you have one GPU instead of eight, accumulate eight batches, and wait eight times as long.
#
# ### Exercise 1 · The plan of a run
# `die_katze.plan_run` · 3 points (2 for the values, 1 for a warm-up of at least one step) · about 10 minutes
#
# Write the plan. A number of steps that is not whole is rounded up, so that the last tokens are learned from as well. The
# warm-up's is rounded down, but it has at least one step, because a schedule divides by it.
#
# `epochs` may be a fraction; `warmup_ratio` is a share of all steps. The result is a tuple of three plain ints,
# `(tokens_per_step, steps, warmup)`.


# %% nbgrader={"grade": false, "grade_id": "die_katze-plan_run-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def plan_run(tokens, batch_tokens, accumulate, devices, epochs, warmup_ratio):
    """How much a step learns from, how many steps there are, and how many of them are warm-up.

    tokens: int, in one pass through the data
    batch_tokens: int, of one batch on one device
    accumulate: int, batches that each device adds up before the weights move
    devices: int, that work at the same time
    epochs: float, passes through the data
    warmup_ratio: float, of all steps
    returns: (tokens_per_step, steps, warmup), three ints
    """
    ### BEGIN SOLUTION
    tokens_per_step = batch_tokens * accumulate * devices
    steps = math.ceil(epochs * tokens / tokens_per_step)
    return tokens_per_step, steps, max(1, math.floor(warmup_ratio * steps))
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Devices and accumulation multiply, since each device adds up its own batches. The steps are rounded up: rounding down
# would drop the last part of the data without a word. The warm-up is a share of all steps and not of an epoch's; where it
# would be rounded to 0, the schedule step / warmup would divide by 0, hence the maximum with 1. Whoever moves a run to
# fewer devices and forgets to accumulate has changed the batch, and with it what learning rate is right.

# %% nbgrader={"grade": true, "grade_id": "die_katze-plan_run-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("die_katze.plan_run")
### BEGIN HIDDEN TESTS
check("die_katze.plan_run", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# What does our own run look like, and what would it be on other machines?

# %% tags=["demo"]
data = translation_data(corpus.training, pieces, pieces, corpus.recipe.max_tokens)
tokens = sum(len(source) + len(target) for source, target in data.examples)


@show.when_ready
def plans():
    recipe = corpus.recipe
    epochs = recipe.steps * recipe.max_tokens / tokens
    print(f"{tokens:,} tokens in the data; {recipe.steps:,} steps pass through it about {epochs:.1f} times.\n")
    for accumulate, devices in ((1, 1), (4, 1), (1, 4), (8, 8)):
        of_a_step, steps, warmup = plan_run(
            tokens, recipe.max_tokens, accumulate, devices, epochs, recipe.warmup / recipe.steps
        )
        print(
            f"devices: {devices}, batches that each accumulates: {accumulate}: {of_a_step:7,} tokens a step, "
            f"{steps:5,} steps, {warmup:4,} of warm-up"
        )


# %% [markdown]
# The same data, the same passes, and fewer and fewer steps. The last plan hardly moves the weights at all: a batch can be too
# large for its data. (In the short form a quarter of the 200 steps is warm-up.)
#
# ### 2.1 Batches of about the same size
#
# Sentences have different lengths, and a batch is a rectangle: every row is as long as the longest, and the rest is padding
# that is multiplied like anything else. If you put a caption of four words beside one of thirty, most of the rectangle is air.
#
# So two things are done. Pairs of **like lengths** go together. And batches are cut **by tokens**, not by sentences: many short
# pairs or a few long ones, so that every batch fills the memory about equally.
#
# The source and the target are two rectangles. A batch of $n$ pairs takes
#
# $$n \cdot \big(\max_i \text{source}_i + \max_i \text{target}_i\big)$$
#
# tokens, padding included; the two longest may belong to different pairs.
#
# ### Exercise 2 · Batches by tokens
# `die_katze.batches_by_tokens` · 4 points (3 for the values, 1 for a pair that is too long) · about 20 minutes
#
# Sort the pairs: by source length, then by target length, then by number. Go through them in this order and put each into
# the last batch if the batch then has at most `max_tokens`, or else begin a new one. A pair that is longer than `max_tokens` by
# itself is a batch of its own. Without any pairs there are no batches, and the result is `[]`.
#
# `lengths` is a list of pairs of ints; the result is a list of lists of ints, the pairs' numbers from 0. (The library's own
# batches are cut in the same way, from a shuffled pool, so that they differ from epoch to epoch.)


# %% nbgrader={"grade": false, "grade_id": "die_katze-batches_by_tokens-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def batches_by_tokens(lengths, max_tokens):
    """Pairs of like lengths together, as many as fit.

    lengths: list of (source, target), two ints each
    max_tokens: int, the most that a batch may have, padding included
    returns: list of lists of ints, the numbers of the pairs in each batch
    """
    ### BEGIN SOLUTION
    batches = []
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
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Python sorts pairs by their first entry and then by the second, and its sort is stable, so that equal pairs stay in the
# order of their numbers. The question whether a pair fits is asked before it is added, with the lengths that the batch
# would then have: a new pair can make every other row longer. A batch costs its number of rows times the longest row, not
# the sum of the lengths; if you forget the padding, you run out of memory at the one batch that mixes lengths. A pair that
# fits nowhere begins a batch, and the next one begins another, since that one is overfull.

# %% nbgrader={"grade": true, "grade_id": "die_katze-batches_by_tokens-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("die_katze.batches_by_tokens")
### BEGIN HIDDEN TESTS
check("die_katze.batches_by_tokens", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# How much of what is multiplied is air? Here are three ways to cut the same data.


# %% tags=["demo"]
def air(batches, lengths):
    """The share of padding."""
    whole = sum(len(batch) * sum(max(lengths[i][side] for i in batch) for side in (0, 1)) for batch in batches)
    return 1 - sum(sum(lengths[i]) for batch in batches for i in batch) / whole


@show.when_ready
def padding_by_way_of_cutting():
    lengths = [(len(source), len(target)) for source, target in data.examples]
    shuffled = random.Random(0).sample(range(len(lengths)), len(lengths))
    by_length = sorted(range(len(lengths)), key=lambda i: lengths[i])
    ways = {
        "64 at a time, as they come": [shuffled[i : i + 64] for i in range(0, len(lengths), 64)],
        "64 at a time, by length": [by_length[i : i + 64] for i in range(0, len(lengths), 64)],
        "by tokens": batches_by_tokens(lengths, corpus.recipe.max_tokens),
    }
    for name, batches in ways.items():
        sizes = [len(batch) * sum(max(lengths[i][side] for i in batch) for side in (0, 1)) for batch in batches]
        print(f"{name:27} {air(batches, lengths):5.1%} air; a batch has {min(sizes):5,} to {max(sizes):5,} tokens")


# %% [markdown]
# Sorting lets out the air. Cutting by tokens makes the *largest* batch about as large as the others, and it is the largest one
# that decides whether a run dies at step 731.
#
# ### 2.2 Up, along, and down
#
# Lesson 05 had the paper's schedule: up, then down with $1/\sqrt{\text{step}}$. It never ends. Most runs nowadays are to end
# somewhere, and there is a form that leaves open *where*: up in a straight line, **constant** for as long as you like, and in
# the last part down to 0: *warmup-stable-decay* (WSD). As long as the rate is constant you can still decide to go on; only the
# descent settles it.
#
# $$\text{rate}(\text{step}) = \text{peak} \cdot \min\left(1,\ \frac{\text{step}}{\text{warmup}},\
# \frac{\text{total} + 1 - \text{step}}{\text{cooldown}}\right)$$
#
# ### Exercise 3 · A warmup-stable-decay schedule
# `die_katze.trapezoid_schedule` · 2 points · about 8 minutes
#
# Write it. Steps count from 1 and may come in any order; the rate would be 0 only at step 0, and at the step after the last.
#
# Shapes: `steps` is int64 `[steps]`; `total`, `warmup` and `cooldown` are ints, `peak` is a float; the result is float32
# `[steps]`.


# %% nbgrader={"grade": false, "grade_id": "die_katze-trapezoid_schedule-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def trapezoid_schedule(steps, total, warmup, cooldown, peak):
    """Up in a straight line, along, and down in a straight line.

    steps: int64 [steps], counted from 1
    total: int, steps of the run
    warmup, cooldown: int, steps of the rise and of the fall
    peak: float, the rate between them
    returns: float32 [steps]
    """
    ### BEGIN SOLUTION
    shares = torch.minimum(steps / warmup, (total + 1 - steps) / cooldown)
    return peak * shares.clamp(max=1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Of three lines the lowest counts, which makes cases unnecessary: a run too short to be constant goes up and comes straight
# down. Both slopes are shifted so that no step has the rate 0. The rise is step / warmup and not (step - 1) / warmup, the fall counts from
# the step after the last. A rate of 0 would waste a whole batch, and a run of one step would not learn at all.

# %% nbgrader={"grade": true, "grade_id": "die_katze-trapezoid_schedule-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("die_katze.trapezoid_schedule")
### BEGIN HIDDEN TESTS
check("die_katze.trapezoid_schedule", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def warmup_stable_decay():
    total = 3000
    numbers = torch.arange(1, total + 1)
    paper = [inverse_root_schedule(3e-3, 300)(step) for step in numbers.tolist()]
    drawn, [axes] = show.frames(width=6.6, height=3.0)
    axes.plot(numbers, paper, color=GREY, linewidth=2, label="the paper's: down with 1 / √step")
    axes.plot(
        numbers,
        trapezoid_schedule(numbers, total, 300, 900, 3e-3),
        color=BLUE,
        linewidth=2,
        label="warmup-stable-decay",
    )
    early = trapezoid_schedule(numbers[:2000], 2000, 300, 600, 3e-3)
    axes.plot(numbers[:2000], early, color=ORANGE, linewidth=2, linestyle="--", label="the same, ended earlier")
    axes.set(title="learning rate by step", ylim=(0, 5e-3))
    axes.legend(loc="upper right", ncols=1, fontsize=9)
    show.figure(drawn, "Three learning rates: one rises and falls slowly, two rise, stay flat, and fall to 0.")


# %% [markdown]
# The dashed run and the blue one are the same run until the dashed one comes down. That is worth money: one long
# constant part, and a descent wherever you would like a finished model.
#
# ### 2.3 More than fits
#
# Now the arithmetic of accumulating, where real training code has been wrong for years. Your loss is the mean over a batch's
# words. You accumulate two batches, one of 90 words with a mean loss of 2.0 and one of 10 words with 4.0. What would one
# batch of all 100 words have said? Not 3.0, the mean of the means. It would have said
#
# $$\frac{90 \cdot 2.0 + 10 \cdot 4.0}{100} = 2.2 .$$
#
# Taking the mean of means lets each word of the small batch count nine times as much as each of the large one. The loss still
# falls, the pictures still look fine, and the model is a little worse than it should be. Mistakes of that kind live long.
#
# ### Exercise 4 · One large batch out of small ones
# `die_katze.accumulated_loss` · 3 points (2 for the values, 1 for a batch without targets) · about 10 minutes
#
# From the mean loss of each batch and its number of targets, compute the mean over all targets. Gradients flow through
# it. A batch without any target has a mean of NaN (0 / 0) and counts nothing.
#
# Shapes: `means` is `[batches]`, `targets` is int64 `[batches]`, and at least one of them is above 0; the result is a single
# number `[]` in the dtype of `means`.


# %% nbgrader={"grade": false, "grade_id": "die_katze-accumulated_loss-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def accumulated_loss(means, targets):
    """The mean loss over all targets of several batches.

    means: [batches], each batch's mean loss; NaN where it has no targets
    targets: int64 [batches], how many it has
    returns: [], what one large batch would have had
    """
    ### BEGIN SOLUTION
    counted = targets > 0
    weights = targets[counted].to(means.dtype) / targets.sum()
    return (means[counted] * weights).sum()
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A mean over n words times n is the sum over them. Add up the sums, divide once by all words, and it is the large batch's
# mean, gradients included. So each mean is weighed by its share of the words. NaN times 0 is NaN, so a batch without
# targets must be left out before anything is multiplied; the same holds in the backward pass. In a loop one multiplies
# each loss by its share before calling backward, and must know the total beforehand: that is why the training loop of
# this course draws all batches of a step before it computes the first.

# %% nbgrader={"grade": true, "grade_id": "die_katze-accumulated_loss-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("die_katze.accumulated_loss")
### BEGIN HIDDEN TESTS
check("die_katze.accumulated_loss", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def word_by_word():
    losses = torch.rand(100, generator=torch.Generator().manual_seed(1), dtype=torch.float64).requires_grad_()
    parts = losses.split([90, 10])
    means, counts = torch.stack([part.mean() for part in parts]), torch.tensor([90, 10])
    for name, loss in {"yours": accumulated_loss(means, counts), "mean of means": means.mean()}.items():
        (pull,) = torch.autograd.grad(loss, losses, retain_graph=True)
        print(f"{name:14} a word of the large batch pulls with {pull[0]:.4f}, one of the small with {pull[-1]:.4f}")


# %% [markdown]
# ## 3. The run
#
# Everything is ready. Write down what you expect *before* you run it. You need not be right; a guess that was wrong is the one
# that you will remember. The loss is in nats for each piece, and a model that knows nothing spreads its probability
# evenly.

# %%
my_guess = {
    "loss at the first step": None,  # such as 3.5
    "loss at the last step": None,
}

# %% [markdown]
# The cell below is all of it: the full reference transformer, AdamW, label smoothing, dropout, gradients clipped, **mixed
# precision** where the device has it (the weights stay in 32 bits, the products are computed in 16), validation ten times on
# the way, and checkpoints in a folder that survives.
#
# The recipe is in **pre-norm** (lesson 04), and not as a matter of taste. On Multi30k, with a model 128 wide, the
# paper's post-norm at a peak of 0.005 stood at a loss of 3.17 nats after 1,760 steps, and pre-norm at 1.85 to 1.96. Most of
# that is the rate, and how wide $W_q$, $W_k$ and $W_v$ are drawn at the beginning: $1/\sqrt{2}$ times as wide, as torch's
# `nn.Transformer` draws them, and with half the peak, post-norm came to 2.13. In post-norm every gradient passes through every
# norm on its way down, so the first steps are the narrow part of the road; in pre-norm the residual path goes around them.
# The short form is in pre-norm for the same reason. In its 200 steps the paper's norm and rate come to a validation loss of
# 2.01 nats. If the rate falls in a straight line to 0 at the last step it is 1.78, and in pre-norm, which stands twice the
# peak, 1.52. A short run is not the beginning of a long one: it has to come down, too.
#
# And it is interrupted on purpose. The first call trains half of the steps and ends; all that is left is the folder. The second
# call finds the newest checkpoint there and goes on: weights, optimizer, the order of the batches and the state of the random
# numbers, so that the end is the same, bit for bit, as without the break. If your runtime dies at two in the morning, run the
# cell again.

# %%
folder = kept_folder(corpus)


def run(until):
    with progress_bar(until, f"{corpus.name}, {precision_for(device)}") as tell:
        how = {"tokens": pieces, "until": until, "progress": tell}
        return learn_to_translate(corpus.recipe, corpus.training, corpus.validation, folder, device, **how)


run(corpus.recipe.steps // 2)
print("left behind:", *sorted(path.name for path in folder.iterdir()))
learned = run(corpus.recipe.steps)
result = learned.result
print(f"The second call learned from {result.tokens:,} tokens and knows {len(result.losses):,} losses.")

# %% tags=["demo"]
show.loss_curve(result.losses, result.validations, title="loss in nats for each piece; grey: as it was")
print(f"ln {len(pieces):,} = {math.log(len(pieces)):.2f}, what knowing nothing costs")


def beside_a_whole_run():
    """In shares of each run, since they differ in steps, data and pieces."""
    drawn, axes = show.frames(2, width=7.2, height=3.0)
    yours = [sum(part) / len(part) for part in torch.tensor(result.losses).chunk(10)]
    tenths = range(10, 101, 10)
    for frame, title, training, validation in (
        (axes[0], f"yours: {len(result.losses):,} steps, {corpus.name}", yours, list(result.validations.values())),
        (axes[1], "an H100: 8,000 steps, Multi30k", H100["training"], H100["validation"]),
    ):
        frame.plot(tenths, training, color=BLUE, label="training")
        frame.plot(tenths, validation, color=ORANGE, marker="o", label="validation")
        frame.set(title=title, xlabel="% of the run", ylim=(0, 7))
    axes[0].set(ylabel="loss in nats for each piece")
    axes[1].legend()
    show.figure(drawn, "Your run's losses beside those of the whole run on a GPU, which end lower in training.")


beside_a_whole_run()
for what, found in {"loss at the first step": result.losses[0], "loss at the last step": result.losses[-1]}.items():
    guess = "no guess" if my_guess[what] is None else f"you guessed {my_guess[what]}"
    print(f"{what}: {found:.2f} ({guess})")

# %% [markdown]
# The first loss is near $\ln$ of the vocabulary, or somewhat above: random weights are not quite as humble as to give every
# piece the same. Then it falls fast. The first things to be learned are cheap: which pieces are frequent at all, that a
# caption begins with *Ein* and ends with a full stop. In the short form, what you see ends not long after.
#
# On the right is a run of the whole recipe on Multi30k, as it was measured on one H100 in 1 min 12 s: 40.1 BLEU at its end.
# Its validation loss hardly falls in the second half, and its training loss does: by then it learns its own pairs better
# and better, and others a little. (Losses of different pieces and data cannot be compared. Their shapes can.)
#
# It will never reach 0. Label smoothing (lesson 05) asks the model to keep a tenth of its probability for other pieces, and
# that costs something even if every translation is right.
#
# ### 3.1 The same run, of your own classes
#
# What has trained above is the library's `Transformer`. You wrote one, too: the decoder block and what joins the stacks, in
# lesson 05, and there they learned a toy grammar. Here they get the same data. One thing is different: your blocks have the
# paper's post-norm, and the run above was in pre-norm. Post-norm does not stand the recipe's peak, so yours get half of it,
# and the library's transformer in post-norm runs beside them. If your blocks passed their checks, there is no reason why they
# should learn anything else; but there was no reason, either, why *die Katze* should be told from *der Katze*, until you
# tried.
#
# What do you expect: is your loss after the same steps lower, higher, or about the same?

# %%
my_guess["my own classes"] = None  # "lower", "higher" or "about the same"

# %% tags=["demo"]
encode_and_decode, DecoderBlock, EncoderBlock, MultiHeadAttention, LayerNorm, AddAndNorm, FeedForward = answer(
    "encoder_decoder.encode_and_decode",
    "encoder_decoder.decoder_block",
    "heads_and_blocks.encoder_block",
    "heads_and_blocks.multi_head_attention",
    "heads_and_blocks.layer_norm",
    "heads_and_blocks.add_and_norm",
    "heads_and_blocks.feed_forward",
)


def my_block(kind, d_model, heads, d_ff, dropout):
    """A block of lesson 04 or 05, of your parts: the decoder's has one attention more, and one norm."""
    attentions, norms = {EncoderBlock: ("self",), DecoderBlock: ("self", "cross")}[kind], (1, 2, 3)
    return kind(
        **{f"{name}_attention": MultiHeadAttention(d_model, heads) for name in attentions},
        feed_forward=FeedForward(d_model, d_ff),
        **{
            f"add_and_norm_{number}": AddAndNorm(LayerNorm(d_model), nn.Dropout(dropout))
            for number in norms[: len(attentions) + 1]
        },
    )


class EncoderDecoder(nn.Module):
    """The transformer of lesson 05, of your blocks; one embedding serves both languages and the output."""

    def __init__(self, vocab_size, d_model, heads, d_ff, layers, dropout):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = SinusoidalPositions(d_model)
        self.dropout = nn.Dropout(dropout)
        sizes = d_model, heads, d_ff, dropout
        self.encoder = nn.ModuleList(my_block(EncoderBlock, *sizes) for _ in range(layers))
        self.decoder = nn.ModuleList(my_block(DecoderBlock, *sizes) for _ in range(layers))
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)

    def embed(self, ids):
        return self.dropout(self.positions(self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)))

    def forward(self, source, target):
        stacks = self.embed, self.encoder, self.embed, self.decoder
        return encode_and_decode(source, target, *stacks, lambda x: F.linear(x, self.embedding.weight))


recipe = dataclasses.replace(corpus.recipe, peak=corpus.recipe.peak / 2, norm_first=False)
my_steps = 1000 if corpus.full else 80  # recipe.steps for the whole run


def first_losses(model, name):
    how = TrainingConfig(my_steps, recipe.rate(), weight_decay=recipe.weight_decay, seed=0)
    with progress_bar(my_steps, name) as tell:
        return train(model, data, recipe.loss, how, device, progress=tell).losses


torch.manual_seed(0)
mine = EncoderDecoder(len(pieces), recipe.d_model, recipe.heads, recipe.d_ff, recipe.layers, recipe.dropout)
of_my_steps = {
    "the library's, as above": result.losses[:my_steps],
    "the library's in post-norm": first_losses(Transformer(recipe.model(len(pieces))), "the library's"),
    "your classes'": first_losses(mine, "your own classes"),
}


def beside_the_librarys():
    drawn, [axes] = show.frames(width=6.4, height=3.4)
    for (name, losses), colour in zip(of_my_steps.items(), (GREY, BLUE, ORANGE), strict=True):
        axes.plot(losses, color=colour, label=name)
    axes.set(xlabel="step", ylabel="loss in nats for each piece", title="The same run, of your own classes")
    axes.legend()
    show.figure(
        drawn, "Three curves of the loss: the library's transformer in pre-norm and in post-norm, and your classes."
    )
    ends = ", ".join(f"{name} {sum(losses[-20:]) / 20:.2f}" for name, losses in of_my_steps.items())
    print(f"mean of the last 20 losses: {ends}")
    guess = my_guess["my own classes"]
    print("your own classes, compared with the run above:", "no guess" if guess is None else f"you said {guess}")


beside_the_librarys()

# %% [markdown]
# Yours and the library's in post-norm are the same transformer. Weights are drawn at random, and the two draw them in
# different orders; more than two tenths of a nat should not lie between them. What lies between both and the run above, in
# the short form some 0.7 nats after 80 steps, is the place of the norm, and the rate that it stands. The rest of the lesson
# goes on with the run above, whose model also keeps the keys and values of what it has written (lesson 06) and so translates
# faster.
#
# **A good place to stop for tonight.** The checkpoints are in their folder.
#
# ## 4. Which checkpoint?
#
# A run leaves several checkpoints behind. The last one is not always the best: on small data, a model learns to repeat its
# training sentences, and the loss on *other* sentences rises again. So the loss is measured on the validation part, the
# checkpoint with the smallest is kept, and one does not wait for ever: if a number of measurements in a row, the **patience**,
# bring no new best one, the run ends.
#
# ### Exercise 5 · Which checkpoint to keep
# `die_katze.choose_checkpoint` · 3 points · about 12 minutes
#
# Go through the losses as the run would. Return the number of the best checkpoint (from 0, the earliest of equals) and how many
# were measured before the run ended. It ends with the `patience`-th measurement in a row that is no new best one, or with the
# list.
#
# `losses` is a list of floats, at least one; `patience` is an int, at least 1; the result is a tuple of two ints,
# `(best, seen)`.


# %% nbgrader={"grade": false, "grade_id": "die_katze-choose_checkpoint-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choose_checkpoint(losses, patience):
    """The best checkpoint, and after how many measurements the run ended.

    losses: list of floats, the validation loss of each checkpoint
    patience: int, measurements without a new best one after which it ends
    returns: (best, seen), two ints
    """
    ### BEGIN SOLUTION
    best = 0
    for i, loss in enumerate(losses):
        if loss < losses[best]:
            best = i
        if i - best == patience:
            return best, i + 1
    return best, len(losses)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The distance from the best measurement is how many have come since without a new best one. Counting how often a loss was
# worse than the one before it is something else: a loss may fall for a while and still be worse than the best. What comes
# after the end was never measured, so the minimum of the whole list would be knowledge of the future. With < instead of
# <=, equal losses do not begin the waiting anew.

# %% nbgrader={"grade": true, "grade_id": "die_katze-choose_checkpoint-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("die_katze.choose_checkpoint")
### BEGIN HIDDEN TESTS
check("die_katze.choose_checkpoint", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def kept():
    steps, losses = list(result.validations), list(result.validations.values())
    best, seen = choose_checkpoint(losses, 3)
    print(f"{len(losses)} validations; with a patience of 3, {seen} would have been made.")
    print(f"The best was {losses[best]:.3f}, after step {steps[best]:,}.")


# %% [markdown]
# The recipe does something else besides. It keeps the last few checkpoints and takes **the mean of their weights** (the
# paper's section 6.1). Late in a run the weights circle around a good position, and the mean is nearer to its middle.
#
# ### 4.1 What 200 steps know, and 3,000
#
# From here on we need a translator that can translate. If you did the full run, it is yours. If not, it is the one that comes
# with the course: the same captions and 3,000 steps instead of 200, with the paper's norm and rate
# (`python -m course_lib.scenes.small_translator` makes it).

# %%
translator = learned.translator if corpus.full else load_small_translator()
trials = [
    "A cat is sleeping on a red sofa.",
    "Two children are putting up a tent in the garden.",
    "The cat is dancing on the table.",
]
for sentence, early, late in zip(
    trials, learned.translator.translate(trials), translator.translate(trials, beams=corpus.recipe.beams), strict=True
):
    print(f"{sentence}\n    this run:   {early}\n    translator: {late}\n")

# %% [markdown]
# The 200 steps of the short form have learned to read the frequent words. One caption in three comes out
# right, prefix and all; but where a word is rare, they write what captions sound like. It is the oldest mistake of language
# models: fluent, and about something else.
#
# The translator of the short form gets the first two right. And *die Katze*, on whom this course has been
# waiting for eleven lessons? Look at its article. In all of the captions by rule things are *a* thing, so *the table* is a thing
# that it has hardly ever met. We shall come back to that.
#
# ## 5. What it looks at
#
# Nobody has told the translator which German word belongs to which English one. We listen to the cross-attention of its last
# block while it writes.


# %% tags=["demo"]
@torch.no_grad()
def watched(sentence):
    """What the model does for a sentence: its pieces, those it writes, the likeliest ones, all cross-attention."""
    model, vocabulary = translator.model, translator.source
    position = model.output.weight.device
    source = torch.tensor([vocabulary.encode(sentence)], device=position)
    written = vocabulary.encode(translator.translate([sentence])[0])
    target = torch.tensor([[START_ID, *written]], device=position)
    cross = torch.nn.ModuleList(block.cross_attention for block in model.decoder)
    with record_attention(cross) as weights:
        scores = model(source, target)
    best = torch.softmax(scores[0].float(), dim=-1).topk(3)
    labels, said, *names = (
        [piece.replace("▁", "_") for piece in vocabulary.tokens(row)]
        for row in (source[0].tolist(), written, *best.indices.tolist())
    )
    likely = [list(zip(*row, strict=True)) for row in zip(names, best.values.tolist(), strict=True)]
    return show.TranslationAttention(labels, [*said, "<e>"], likely, torch.stack(weights)[:, 0].float().cpu())


seen = [watched(sentence) for sentence in trials]
show.matrices(
    *(
        show.Panel(f"“{sentence}”", looked.alpha[-1].mean(dim=0), looked.target, looked.source)
        for sentence, looked in zip(trials[:2], seen[:2], strict=True)
    ),
    alt="Cross-attention of the last block over the pieces of two English sentences, for each German piece.",
)

# %% [markdown]
# A row is a German piece that is about to be written, a column an English one. Find the verb, which stands earlier in German
# than where its words come from, and in the second sentence its prefix, which comes last and still looks back at *putting*
# and *up*. Below you can watch the three translations grow, and choose layer and head. (There, all is in small letters, and
# ▪ is the full stop.)

# %% tags=["demo"]
show.translating(
    [
        dataclasses.replace(looked, source=[piece.lower().replace(".", "▪") for piece in looked.source])
        for looked in seen
    ]
)

# %% [markdown]
# ## 6. How good is it?
#
# ### 6.1 Greedy, or with a beam
#
# Lesson 06's question, put to a real translator: does it help to follow several translations at once? The test is the one
# by hand (or test2016). **Predict** which way has the higher BLEU, and in how many of fifty sentences the two differ at all.

# %%
higher_bleu, differ_in = "", None  # "greedy" or "beam"; of 50

# %%
name, pairs = list(corpus.tests.items())[-1]
pairs = pairs[:50]
sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
said = {beams: translator.translate(sources, beams=beams) for beams in (1, corpus.recipe.beams)}
found = {beams: bleu(Texts.paired(translations, references)) for beams, translations in said.items()}
differ = sum(one != other for one, other in zip(*said.values(), strict=True))

# %% tags=["demo"]
for beams, translations in said.items():
    length = sum(len(text.split()) for text in translations) / len(translations)
    print(
        f"{beams} at once: BLEU {found[beams].corpus:.2f} on {len(pairs)} of the test {name!r}, {length:.2f} words a sentence"
    )
print(f"{differ} of {len(pairs)} translations differ.")
bleu_of_ways = {"greedy" if beams == 1 else "beam": one.corpus for beams, one in found.items()}
show.prediction("higher BLEU", higher_bleu, max(bleu_of_ways, key=bleu_of_ways.get))
show.prediction("translations that differ", differ_in, differ)

# %% [markdown]
# A beam finds translations that the model thinks more probable. Whether they are *better* depends on whether the model is
# right about what is probable. In the short form, on sentences that the translator does not understand, the beam finds more
# probable nonsense, and shorter, since every further word would cost probability. Keep that in mind whenever somebody sells
# you search as understanding.
#
# ### 6.2 The score
#
# Lesson 10 has taught you to ask for the **signature** before you believe a BLEU. Before you run the next cell, guess. The
# translator got 3,000 steps on 6,000 captions by rule. (With Multi30k there is one test, and one guess.)

# %%
my_scores = {"by rule": None, "by hand": None, "test2016": None}  # BLEU, from 0 to 100

# %%
translations = {
    name: translator.translate([pair.source for pair in pairs], beams=corpus.recipe.beams)
    for name, pairs in corpus.tests.items()
}
for name, pairs in corpus.tests.items():
    texts = Texts.paired(translations[name], [pair.target for pair in pairs])
    cased, lower = bleu(texts), bleu(texts, lowercase=True)
    right = sum(said == pair.target for said, pair in zip(translations[name], pairs, strict=True))
    guess = "no guess" if my_scores[name] is None else f"you guessed {my_scores[name]}"
    print(
        f"{name}: BLEU {cased.corpus:.2f}, lower-cased {lower.corpus:.2f} ({guess}); {right} of {len(pairs)} word for word"
    )
print(cased.signature.partition(";")[0])
if corpus.full:
    print("The best text-only figure that we know for test2016, lower-cased, is 41.02 (Wu et al., 2021).")

# %% [markdown]
# In the short form two numbers stand there, and no other pair of numbers in this course says as much. By rule the translator is
# nearly perfect. Of the captions that a person wrote, about the same cats, tents and bicycles, it gets none right.
#
# It is one translator. It has learned a grammar of a few hundred lines, thoroughly, and everything outside of them is another
# language. Had we only had the first test, cut from the same cloth as the training part as tests usually are, we would have
# announced a translator of 99 BLEU. **A test tells you about sentences like those in the test.** Ask where they come from.
#
# Multi30k's test is harder, and still cut from its own cloth: captions, present tense, somebody in a blue shirt.
#
# ### 6.3 How sure is the score?
#
# Had the test part held other sentences of the same kind, the score would be another. How different? You cannot collect a
# hundred more test parts, but you can act as if: draw, **with replacement**, as many sentences as there are from those that you
# have, and score them. Some are in it twice, some are missing. Do it a few hundred times, and the spread of the scores tells
# you how far to trust the one you have. This is the **bootstrap** (Efron, 1979; for BLEU: Koehn, 2004), and the interval that
# holds the middle 95 of 100 scores goes beside every honest BLEU.
#
# A sample is scored as a *corpus*: its sentences' counts are added up first, and scored once.
#
# ### Exercise 6 · How sure is the score?
# `die_katze.bootstrap_interval` · 4 points · about 20 minutes
#
# Return the 2.5 % and the 97.5 % quantile of the samples' scores, as `torch.quantile` finds them (with straight lines between
# neighbours). `score` is a function: it takes sums of counts, `[kinds]`, and returns the corpus's score, a float. The samples
# are drawn for you.
#
# Shapes: `counts` is int64 `[sentences, kinds]`, `drawn` is int64 `[samples, sentences]` and holds the numbers of sentences;
# the result is a tuple of two floats, `(low, high)`.


# %% nbgrader={"grade": false, "grade_id": "die_katze-bootstrap_interval-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def bootstrap_interval(counts, drawn, score):
    """Between which scores 95 of 100 samples lie.

    counts: int64 [sentences, kinds], what the score has to know of each sentence
    drawn: int64 [samples, sentences], which sentences are in each sample
    score: takes [kinds], the sums of a sample's counts, and returns a float
    returns: (low, high), two floats
    """
    ### BEGIN SOLUTION
    scores = [score(counts[sample].sum(dim=0)) for sample in drawn]
    ends = torch.tensor([0.025, 0.975], dtype=torch.float64)
    low, high = torch.quantile(torch.tensor(scores, dtype=torch.float64), ends).tolist()
    return low, high
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Indexing with a row of numbers repeats a sentence that was drawn twice, which is what drawing with replacement means. The
# counts are added up before they are scored, because corpus BLEU is a function of sums; the mean of sentence scores is
# another number (lesson 10). The quantiles need no bell curve, where the mean plus and minus 1.96 deviations would
# suppose one, and near 100 there is no room for one. The smallest and the largest score would move apart with more samples.

# %% nbgrader={"grade": true, "grade_id": "die_katze-bootstrap_interval-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("die_katze.bootstrap_interval")
### BEGIN HIDDEN TESTS
check("die_katze.bootstrap_interval", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now with your own BLEU. The counts of a sentence are its clipped n-grams, matched and said, and the two lengths; the score is
# put together from lesson 10's functions, yours where they have passed.

# %% [markdown]
# Now for the intervals. **Predict** how wide they are, from the lower to the upper end.

# %%
my_widths = {"by rule": None, "by hand": None, "test2016": None}  # in points of BLEU

# %%
clipped_ngrams, corpus_bleu, brevity_penalty = (
    answer("evaluation.clipped_ngrams"),
    answer("evaluation.corpus_bleu"),
    answer("evaluation.brevity_penalty"),
)


# %% tags=["demo"]
def split(text):
    """Words and punctuation marks."""
    return re.findall(r"\w+|[^\w\s]", text)


def counted(hypothesis, reference):
    """(matched, said) for n = 1 to 4, then both lengths."""
    said, wanted = split(hypothesis), split(reference)
    ngrams = [number for n in range(1, 5) for number in clipped_ngrams(said, [wanted], n)]
    return [*ngrams, len(said), len(wanted)]


def score(sums):
    *ngrams, said, wanted = sums.tolist()
    pairs = list(zip(ngrams[::2], ngrams[1::2], strict=True))
    return 100 * corpus_bleu([pairs], [(said, [wanted])], brevity_penalty)


@show.when_ready
def with_intervals():
    drawn, [axes] = show.frames(width=6.6, height=0.8 + 0.7 * len(corpus.tests))
    for row, (name, pairs) in enumerate(corpus.tests.items()):
        counts = torch.tensor(
            [counted(*two) for two in zip(translations[name], [p.target for p in pairs], strict=True)]
        )
        samples = torch.randint(len(pairs), (300, len(pairs)), generator=torch.Generator().manual_seed(0))
        low, high = bootstrap_interval(counts, samples, score)
        whole = score(counts.sum(dim=0))
        print(f"{name}: BLEU {whole:.2f}, and 95 of 100 samples between {low:.2f} and {high:.2f}")
        show.prediction(f"{name}, width", my_widths[name], float(high - low), " points")
        axes.plot([low, high], [row, row], color=BLUE, linewidth=5, alpha=0.5, solid_capstyle="butt")
        axes.plot([whole], [row], "o", color=ORANGE)
        axes.annotate(f"{whole:.1f}", (whole, row), (0, 9), textcoords="offset points", ha="center", color=INK)
    axes.set_yticks(range(len(corpus.tests)), labels=list(corpus.tests))
    axes.set(xlim=(0, 105), ylim=(-0.6, len(corpus.tests) - 0.3), title="BLEU, with the middle 95 % of 300 samples")
    show.figure(drawn, "The BLEU of each test as a dot on a bar that shows the bootstrap's interval.")


# %% [markdown]
# The interval knows about chance, and about nothing else. In the short form the two bars are far apart, and no bootstrap of the
# first would have foretold the second: whichever captions by rule you draw, they are captions by rule.
#
# ## 7. The worst ten
#
# A score is read in a second. Sentences take ten minutes, and you learn more from them. Take the worst ten by sentence
# BLEU, and *read* them.

# %%
judged, pairs = list(corpus.tests.items())[-1]
by_sentence = bleu(Texts.paired(translations[judged], [pair.target for pair in pairs])).sentences
worst = sorted(range(len(pairs)), key=by_sentence.__getitem__)[:10]
for number in worst:
    print(f"{by_sentence[number]:4.1f}  {pairs[number].source}")
    print(f"      {translations[judged][number]}\n      {pairs[number].target}")

# %% [markdown]
# Each of them goes wrong in its own way, but not in ten ways. In the short form most are much too short: the translator met
# words that it had never learned, and made a sentence of the few that it knew. Another one says its *Korb* twice. Others
# are whole sentences, and about something else. Sorting tells you what to mend first, and a rough sorting can be done by machine,
# without knowing what a single word means.
#
# ### Exercise 7 · What went wrong
# `die_katze.sort_error` · 3 points · about 15 minutes
#
# Compare a translation with its reference and return the **first** of these that holds:
#
# - `"right"`: the same words in the same order;
# - `"order"`: the same words, each as often, in another order;
# - `"form"`: the same words if only the first four letters of each counted, in any order (*rote* and *rotem* begin alike);
# - `"repeated"`: some word that the reference has stands there more often than in the reference;
# - `"short"`: fewer words than the reference;
# - `"word"`: anything else.
#
# Both are lists of words, compared as they are, capitals included; the translation may be empty. The result is a string.


# %% nbgrader={"grade": false, "grade_id": "die_katze-sort_error-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sort_error(hypothesis, reference):
    """What went wrong in a translation.

    hypothesis: list of words, the translation; may be empty
    reference: list of words, at least one
    returns: "right", "order", "form", "repeated", "short" or "word"
    """
    ### BEGIN SOLUTION
    if hypothesis == reference:
        return "right"
    said, wanted = Counter(hypothesis), Counter(reference)
    if said == wanted:
        return "order"
    if Counter(word[:4] for word in hypothesis) == Counter(word[:4] for word in reference):
        return "form"
    if any(0 < wanted[word] < times for word, times in said.items()):
        return "repeated"
    return "short" if len(hypothesis) < len(reference) else "word"
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Counters are equal if the same words occur equally often, whatever their order; sets would take a repeated word for
# another order. Each question relies on the ones before it having failed, so the order of the questions is part of the
# answer: another order of the same words would also pass as "form". A repeated word must be one that the reference has;
# a strange word that is said twice is two wrong words. Such a sorting is rough (*einen* for *eine* is a form, *ein* for
# *eine* too short to be one), but it is the same for every sentence, and it can be counted.

# %% nbgrader={"grade": true, "grade_id": "die_katze-sort_error-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("die_katze.sort_error")
### BEGIN HIDDEN TESTS
check("die_katze.sort_error", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def sorted_errors():
    kinds = ("right", "order", "form", "repeated", "short", "word")
    found = {
        name: Counter(
            sort_error(split(said), split(pair.target)) for said, pair in zip(translations[name], pairs, strict=True)
        )
        for name, pairs in corpus.tests.items()
    }
    drawn, [axes] = show.frames(width=6.8, height=3.0)
    for index, (name, counts) in enumerate(found.items()):
        shares = [100 * counts[kind] / counts.total() for kind in kinds]
        positions = [position + 0.36 * index for position in range(len(kinds))]
        shown = axes.bar(positions, shares, width=0.34, color=[BLUE, ORANGE][index], label=name)
        axes.bar_label(shown, [f"{share:.0f}" for share in shares], padding=2, fontsize=9.5)
    axes.set_xticks([position + 0.18 * (len(found) - 1) for position in range(len(kinds))], labels=kinds)
    axes.set(ylim=(0, 118), title="what went wrong, in percent of the sentences", yticks=[0, 50, 100])
    axes.legend(loc="upper center", ncols=2)
    show.figure(drawn, "Bars: what share of each test's translations is right, or wrong in each of five ways.")
    print(
        "of the worst ten:",
        dict(Counter(sort_error(split(translations[judged][i]), split(pairs[i].target)) for i in worst)),
    )


# %% [markdown]
# ### 7.1 What a person says
#
# Last, a person. Here are eight translations, drawn at random from the harder test. How much of what the English says does the
# German say? If you read no German, compare with the reference below the English.

# %% tags=["demo"]
asked = random.Random(11).sample(range(len(pairs)), 8)
grades = show.questionnaire(
    "grades",
    [f"{pairs[i].source} ({pairs[i].target})\nHow good is this? {translations[judged][i]}" for i in asked],
    ["1 wrong", "2 poor", "3 partly", "4 good", "5 all of it"],
)
grades

# %%
# your line: grades.answers = [...]

# %% tags=["demo"]
if grades.complete:
    given = torch.tensor(grades.answers).float() + 1
    scores = torch.tensor([by_sentence[i] for i in asked])
    together = torch.corrcoef(torch.stack([given, scores]))[0, 1]
    print(
        f"Your mean grade is {given.mean():.2f} of 5, and goes with sentence BLEU at a correlation of {together:+.2f}."
    )
else:
    print("(you have not graded all of them yet)")
for i in asked:
    print(f"{by_sentence[i]:5.1f}  {translations[judged][i]}")

# %% [markdown]
# ### Exercise 8 · In your own words
# `die_katze.what_next` · 3 points, read by a person · about 15 minutes
#
# You have one more evening and the same GPU. (a) From the errors that you read and counted, name the two that you would go for
# first, each with a sentence from your own output. (b) For each say what you would change: the data, the model, the training
# or the search; and why that should help with *this* kind of error. (c) How will you find out whether it did? Say on which
# sentences you would measure it, and what could fool you. Six to ten sentences.
#
# Learning on your own? Once yours is written,
# `solution("die_katze.what_next")`, in a cell of its own, shows one good answer and what earns its points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "die_katze-what_next-written", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# (a) Most of the harder test's translations are too short: *The lights of the city are reflected in the lake.* came out as
# two words. And in *Die Katze tanzt auf der Tisch.* every word is there, but the article is wrong.
#
# (b) The short ones are full of words that the training part lacks, so no other search or larger model will help: the model
# has nothing to say. I would add data, freely written sentences with more words and with definite articles, or train on
# Multi30k first and continue on our captions. The wrong article is another matter. The gender of *Tisch* was learned, after
# *a*, but *the* hardly occurred with things. Captions by rule that say *the table* as often as *a table* should be enough, and
# cost nothing but a line in the writer.
#
# (c) I measure both on captions by hand that nobody has looked at while deciding what to change; the ones that I have read are
# spent. For the articles I would write fifty pairs that differ in nothing but *a* and *the*, and count the right articles,
# since BLEU hardly notices them. I would report the bootstrap's interval of the difference. What could fool me: a test that is
# made by the same rules as the new data would rise even if nothing else became better, and length alone moves BLEU through
# the brevity penalty.
#
# *(One point: two kinds of error, each with a sentence from the output. One point: a change for each that fits its cause. One
# point: measured on fresh sentences of the right kind, with a way to be fooled.)*

# %% [markdown]
# ## 8. If you want more
#
# Ungraded, and each good for an evening:
#
# - **Mend *auf der Tisch*.** `course_lib/scenes/by_rule.tsv` has the captions. Write *the* for *a* before things in a part of
#   them, in both languages, train, and look at the captions by hand again. Which errors went, and which came?
# - **Your own translator.** Train your classes of section 3.1 to the end, and translate with the greedy loop of lesson 06
#   (`answer("decoding.greedy")`). How many points of BLEU lie between yours and the library's, and are they more than the
#   bootstrap's interval?
# - **Warmup, stable, decay.** Train with your `trapezoid_schedule` in place of the recipe's schedule, and end it at three lengths from one
#   constant part.
# - **Five beams, and a length penalty.** `beam_search` has one. Does it help with the short ones?
#
# ## Glossary
#
# - **epoch**: one pass through the training part.
# - **effective batch**: all that the weights learn from in one step, on all devices, accumulated batches included.
# - **accumulation**: adding up the gradients of several batches before the weights move.
# - **mixed precision**: products in 16 bits, weights and sums in 32.
# - **checkpoint**: all that a run needs to go on: weights, optimizer, order of the data, state of the random numbers.
# - **warm-up, cool-down**: the parts of a run in which the learning rate rises from, and falls to, nearly 0.
# - **patience**: how many measurements without a new best one a run is allowed.
# - **bootstrap**: drawing from the test sentences, with replacement, to see how far a score scatters.
# - **signature**: how exactly a score was computed.
#
# ## What you have now
#
# A translator that you planned, fed, trained, stopped, resumed, measured and read. It is the machine of the 2017 paper, at a
# hundredth of its size, and nothing in it is a black box to you. You also have two numbers of the same model that lie eighty
# points apart, and will not trust a single one again.
#
# *Die Katze* tanzt. Auf *dem* Tisch, if you please.
