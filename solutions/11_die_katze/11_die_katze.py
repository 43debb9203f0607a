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
# For ten lessons you have built parts and tried them on a hundred words. Now they make one translator, on real sentences,
# from the data to the ten translations that you would rather not show anybody.
#
# The sentences are captions of photographs. **Multi30k** (Elliott et al., 2016) has 29,000 of them to learn from, English by
# people who saw a photograph, German by professional translators: enough for a translator worth reading, and for one GPU
# and one evening.
#
# **Two ways through this lesson.** With a GPU (on Colab: *Runtime*, *Change runtime type*, *GPU*) and a network, the cells
# train the full model on Multi30k. Without them they do the **short form**, on captions that come with the course: 200 steps
# from scratch, to see a loss fall; then *your own transformer* takes over a translator that was trained for longer, and
# **fine-tunes** it until you can read what it writes. You can do all exercises either way. No grade needs a GPU.
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
# Stuck? `hint("die_katze.plan_run")` opens a hint, and each further call the next one. `solution(...)` shows the
# answer with its reason, once you have tried; `progress()` shows how far you are.

# %%
import dataclasses
import math
import random
import re
from collections import Counter

import torch

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.evaluation.metrics import Texts, bleu
from course_lib.ground.tables import Table
from course_lib.hooks import record_attention
from course_lib.mine import answer, keep_figure
from course_lib.mine.own_transformer import own_transformer
from course_lib.models import Transformer
from course_lib.scenes.corpora import H200, choose_corpus, kept_folder
from course_lib.scenes.sample import VALIDATED, everyday_captions
from course_lib.scenes.small_translator import load_small_translator
from course_lib.show import BLUE, GREEN, GREY, INK, ORANGE
from course_lib.text.batches import translation_data
from course_lib.text.fast_subwords import SubwordVocabulary
from course_lib.text.shape_buckets import shared_vocabulary_data
from course_lib.text.timed_merges import TooSlow, first_ids, learn_in_time, vocabulary_of, word_counts
from course_lib.text.tokenization import START_ID
from course_lib.training.loop import TrainingConfig, Validation, train
from course_lib.training.precision import precision_for
from course_lib.training.progress import progress_bar
from course_lib.training.recipes import EVERYDAY, learn_to_translate
from course_lib.training.schedules import inverse_root_schedule
from course_lib.training.vocabulary_transfer import transfer_vocabulary

show.use_style()
torch.set_num_threads(1)  # matrices as small as these gain nothing from a second one
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## 1. The data
#
# Every file that this course fetches has an **address whose content cannot change** (a commit, not a branch) and a
# checksum: a run on half a file looks like any other run, only worse. `docs/data.md` lists all files with sources, licences
# and sizes.
#
# A runtime on Colab forgets its disk. If you mount your Google Drive first, checkpoints go there, and the lesson looks for
# data files in its folder `katze`:
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
# Look at what German does to these sentences. The verb comes second in a main clause whatever comes first, and last in a
# subordinate one. *einen roten Mantel* and *in einem roten Mantel* are the same coat in two cases. A prefix leaves its verb
# and waits at the end: *baut ... auf*. No rule is written down for the model. It learns them all from the pairs.
#
# One part is to learn from, one to validate on, and the others are tests. The short form has three: **synthetic** captions
# (*by rule*), made by the same rules as the training part; short **everyday** captions, written one by one;
# and longer ones that were written one by one, too (*by hand*), the hard test.

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
# ### 1.1 Your own subwords
#
# No list of words holds *Donaudampfschifffahrt*. So words are split into **subwords**, by the merges that you learned in
# lesson 08. Your `learn_merges` counts all pairs anew in every round: seconds on the short form, an hour on Multi30k. So the
# cell times the first twenty rounds, and if all of them would take more than two minutes, the library finds the same pairs.
#
# Both languages share one vocabulary. It costs nothing, and *Restaurant* need not be learned twice.

# %%
texts = [text for pair in corpus.training for text in (pair.source, pair.target)]
words = word_counts(texts)
learn_merges, count, choose, join = answer(
    "subwords.learn_merges", "subwords.count_pairs", "subwords.most_frequent_pair", "subwords.merge"
)
try:
    size = corpus.recipe.pieces - len(first_ids(words))
    merges = learn_in_time(learn_merges, words, size, seconds=120, count=count, choose=choose, join=join)
    pieces = vocabulary_of(words, merges)
    print(f"\nThese learned {len(merges)} merges from {len(words):,} different words.")
except TooSlow as reason:
    pieces = SubwordVocabulary.train_bpe(texts, corpus.recipe.pieces, split_punctuation=True)
    print(f"\nThe library's: {reason}.")
print(f"There are {len(pieces):,} subwords, for both languages.")

# %% tags=["demo"]
shown = ["A dancer is dancing on the table.", "Eine Tänzerin tanzt auf dem Tisch.", "Ein Eisbär angelt."]
show.piece_rows(
    [(text, [piece.replace("▁", "_") for piece in pieces.tokens(pieces.encode(text))]) for text in shown],
    title="whole words where they are frequent, scraps where they are not",
    alt="Three sentences in subwords: frequent words are whole, and a polar bear who fishes falls into scraps.",
)

# %% [markdown]
# ## 2. The plan
#
# Plan a run on paper before you start it: how many tokens one step learns from, how many steps there are, over how many of
# them the rate rises, and how often the run passes through the data.
#
# A step learns from more than fits on a GPU at a time. There may be several **devices**, each with its own batch.
# And each may **accumulate**: compute the gradients of one batch after another, add them up, and move the weights only then.
# To the weights it is all the same. What counts is the **effective batch**:
#
# $$\text{tokens of a step} = \text{tokens of a batch} \times \text{accumulated batches} \times \text{devices} .$$
#
# The paper's base model read about 25,000 tokens of each language in a step, on eight GPUs, for 100,000 steps, 4,000 of which
# were **warm-up**. If you have one GPU instead of eight, accumulate eight batches, and wait eight times as long.
#
# ### Exercise 1 · The plan of a run
# `die_katze.plan_run` · 3 points (2 for the values, 1 for a warm-up of at least one step) · about 10 minutes
#
# Write the plan. Round the steps up if they are not whole, so that the run learns from the last tokens, too. Round the
# warm-up down, but give it at least one step, because a schedule divides by it.

# %% [markdown] tags=["fine-print"]
# `epochs` may be a fraction; `warmup_ratio` is a share of all steps. Return a tuple of three plain ints,
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
# Devices and accumulation multiply, since each device adds up its own batches. Round the steps up: rounding down would
# silently drop the last part of the data. The warm-up is a share of all steps, not of one epoch's. If it were rounded to 0,
# the schedule step / warmup would divide by 0, hence the maximum with 1. If you move a run to fewer devices and forget to
# accumulate, you have changed the batch, and with it the right learning rate.

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
# The same data, the same number of passes, and fewer and fewer steps. The last plan hardly moves the weights at all: a batch
# can be too large for its data.
#
# ### 2.1 Batches of about the same size
#
# Sentences have different lengths, and a batch is a rectangle: every row is as long as the longest, and the rest is
# **padding** that is multiplied like anything else. Put a caption of four words beside one of thirty, and most of the
# rectangle is padding.
#
# Two things help. Pairs of **similar length** go together. And batches are cut **by tokens**, not by sentences: many short
# pairs or a few long ones, so that every batch fills the memory about equally.
#
# The source and the target are two rectangles. A batch of $n$ pairs takes
#
# $$n \cdot \big(\max_i \text{source}_i + \max_i \text{target}_i\big)$$
#
# tokens, padding included; the two longest may be in different pairs.
#
# ### Exercise 2 · Batches by tokens
# `die_katze.batches_by_tokens` · 4 points (3 for the values, 1 for a pair that is too long) · about 20 minutes
#
# Sort the pairs: by source length, then by target length, then by number. Go through them in this order. Put each pair into
# the last batch if that batch then has at most `max_tokens`; otherwise start a new one. A pair that alone is longer than
# `max_tokens` is a batch of its own.

# %% [markdown] tags=["fine-print"]
# `lengths` is a list of pairs of ints. Return a list of lists of ints, the pairs' numbers from 0; without any pairs, `[]`.
# (The library cuts its own batches in the same way, from a shuffled pool, so that they differ from epoch to epoch.)


# %% nbgrader={"grade": false, "grade_id": "die_katze-batches_by_tokens-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def batches_by_tokens(lengths, max_tokens):
    """Pairs of similar length together, as many as fit.

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
# Python's sort is stable: equal pairs stay in the order of their numbers. Check whether a pair fits before you add it, with
# the lengths that the batch would then have: a new pair can make every other row longer. A batch costs its number of rows
# times the longest row, not the sum of the lengths; if you forget the padding, you run out of memory at the one batch that mixes lengths. A pair that
# fits nowhere begins a batch, and the next one begins another, since that one is overfull.

# %% nbgrader={"grade": true, "grade_id": "die_katze-batches_by_tokens-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("die_katze.batches_by_tokens")
### BEGIN HIDDEN TESTS
check("die_katze.batches_by_tokens", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# How much of each batch is padding? Here are three ways to cut the same data.


# %% tags=["demo"]
def padding_ratio(batches, lengths):
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
        ratio = padding_ratio(batches, lengths)
        print(f"{name:27} {ratio:5.1%} padding; a batch has {min(sizes):5,} to {max(sizes):5,} tokens")


# %% [markdown]
# Sorting removes most of the padding. Cutting by tokens makes the *largest* batch about as large as the others, and the
# largest one decides whether a run dies at step 731.
#
# ### 2.2 Up, along, and down
#
# Lesson 05 had the paper's schedule: up, then down with $1/\sqrt{\text{step}}$. It never ends. Most runs are meant to end
# somewhere, and the **WSD schedule** (*warmup-stable-decay*) leaves open *where*: the rate rises in a straight line, stays
# **constant** for as long as you like, and falls to 0 in the last part. While it is constant you can still decide to go on;
# only the descent settles it.
#
# $$\text{rate}(\text{step}) = \text{peak} \cdot \min\left(1,\ \frac{\text{step}}{\text{warmup}},\
# \frac{\text{total} + 1 - \text{step}}{\text{cooldown}}\right)$$
#
# ### Exercise 3 · A warmup-stable-decay schedule
# `die_katze.trapezoid_schedule` · 2 points · about 8 minutes
#
# Write it. Steps count from 1, so the rate would be 0 only at step 0, and at the step after the last.

# %% [markdown] tags=["fine-print"]
# The steps may come in any order. Shapes: `steps` is int64 `[steps]`; `total`, `warmup` and `cooldown` are ints, `peak` is a
# float; the result is float32 `[steps]`.


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
# The lowest of three lines counts, so you need no cases: a run too short to be constant goes up and comes straight
# down. Both slopes are shifted so that no step has the rate 0: the rise is step / warmup and not (step - 1) / warmup, and the
# fall counts from the step after the last. A rate of 0 would waste a whole batch, and a run of one step would learn nothing.

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
    drawn, [axes] = show.frames(width=6.6, height=3.3)
    axes.plot(numbers, paper, color=GREY, linewidth=2, label="the paper's: down with 1 / √step")
    wsd = trapezoid_schedule(numbers, total, 300, 900, 3e-3)
    axes.plot(numbers, wsd, color=BLUE, linewidth=2, label="WSD")
    early = trapezoid_schedule(numbers[:2000], 2000, 300, 600, 3e-3)
    axes.plot(numbers[:2000], early, color=ORANGE, linewidth=2, linestyle="--", label="WSD, ended earlier")
    axes.set(title="learning rate by step", xlabel="step", ylim=(0, 5e-3))
    axes.legend(loc="upper right", ncols=1, fontsize=9)
    show.figure(drawn, "Three learning rates: one rises and falls slowly, two rise, stay flat, and fall to 0.")


# %% [markdown]
# Until the dashed run comes down, it and the blue one are the same run. That saves money: one long constant part, and a
# descent wherever you want a finished model.
#
# ### 2.3 More than fits
#
# **Gradient accumulation** has an arithmetic that real training code has got wrong for years. Your loss is the mean over a
# batch's tokens. You accumulate two batches, one of 90 tokens with a mean loss of 2.0 and one of 10 tokens with 4.0. What
# would one batch of all 100 tokens have said? Not 3.0, the mean of the means, but
#
# $$\frac{90 \cdot 2.0 + 10 \cdot 4.0}{100} = 2.2 .$$
#
# The mean of means lets each token of the small batch count nine times as much as each of the large one. The loss still
# falls, the curves still look fine, and the model is a little worse than it should be.
#
# ### Exercise 4 · One large batch out of small ones
# `die_katze.accumulated_loss` · 3 points (2 for the values, 1 for a batch without targets) · about 10 minutes
#
# From the mean loss of each batch and its number of targets, compute the mean over all targets. Gradients flow through
# it. A batch without any target has a mean of NaN (0 / 0) and counts nothing.

# %% [markdown] tags=["fine-print"]
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
# A mean over n tokens times n is the sum over them. Add up the sums, divide once by all tokens, and you have the large
# batch's mean, gradients included. So weight each mean by its share of the tokens. NaN times 0 is NaN, so leave out a batch
# without targets before you multiply; the same holds in the backward pass. In a loop you multiply each loss by its share
# before calling backward, so you must know the total beforehand: this course's training loop draws all batches of a step
# before it computes the first.

# %% nbgrader={"grade": true, "grade_id": "die_katze-accumulated_loss-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("die_katze.accumulated_loss")
### BEGIN HIDDEN TESTS
check("die_katze.accumulated_loss", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def token_by_token():
    losses = torch.rand(100, generator=torch.Generator().manual_seed(1), dtype=torch.float64).requires_grad_()
    parts = losses.split([90, 10])
    means, counts = torch.stack([part.mean() for part in parts]), torch.tensor([90, 10])
    for name, loss in {"yours": accumulated_loss(means, counts), "mean of means": means.mean()}.items():
        (pull,) = torch.autograd.grad(loss, losses, retain_graph=True)
        print(f"{name:14} a token of the large batch pulls with {pull[0]:.4f}, one of the small with {pull[-1]:.4f}")


# %% [markdown]
# ## 3. The run
#
# Everything is ready. Write down what you expect *before* you run it: you will remember a wrong guess best. The loss is in
# nats per token, and a model that knows nothing spreads its probability evenly.

# %%
my_guess = {
    "loss at the first step": None,  # such as 3.5
    "loss at the last step": None,
}

# %% [markdown]
# The cell below is all of it: the library's transformer, AdamW, label smoothing, dropout, gradient clipping, **mixed
# precision** where the device has it (the weights stay in 32 bits, the products are computed in 16), ten validations on
# the way, and checkpoints in a folder that survives.
#
# The recipe is **pre-norm** (lesson 04), and not as a matter of taste. On Multi30k, with a model 128 wide, the
# paper's post-norm at a peak of 0.005 had a loss of 3.17 nats after 1,760 steps, and pre-norm 1.85 to 1.96
# (`benchmarks/README.md`): in post-norm every gradient passes through every norm on its way down. In the short form's 200
# steps the paper's norm and rate reach a validation loss of 2.01 nats; with a rate that falls in a straight line to 0, 1.78;
# and in pre-norm, which tolerates twice the peak, 1.52 (`course_lib/training/recipes.py`). A short run is not the beginning
# of a long one: its rate has to come down, too.
#
# The run is interrupted on purpose. The first call trains half of the steps. The second finds the newest checkpoint in the
# folder and goes on: weights, optimizer, the order of the batches and the state of the random numbers, so that the end is the
# same, bit for bit, as without the break. If your runtime dies at two in the morning, run the cell again.

# %%
folder = kept_folder(corpus)


def run(until):
    with progress_bar(until, f"{corpus.name}, {precision_for(device)}") as tell:
        how = {"tokens": pieces, "until": until, "progress": tell}
        return learn_to_translate(corpus.recipe, corpus.training, corpus.validation, folder, device, **how)


run(corpus.recipe.steps // 2)
print("in the folder:", *sorted(path.name for path in folder.iterdir()))
learned = run(corpus.recipe.steps)
result = learned.result
print(f"The second call learned from {result.tokens:,} tokens and knows {len(result.losses):,} losses.")

# %% tags=["demo"]
show.loss_curve(result.losses, result.validations, title="loss in nats per token; grey: every step (library's classes)")
print(f"ln {len(pieces):,} = {math.log(len(pieces)):.2f}, the loss of a model that knows nothing")


def beside_a_whole_run():
    """In shares of each run, since they differ in steps, data and subwords."""
    drawn, axes = show.frames(2, width=7.2, height=3.0)
    yours = [sum(part) / len(part) for part in torch.tensor(result.losses).chunk(10)]
    tenths = range(10, 101, 10)
    for frame, title, training, validation in (
        (axes[0], f"yours: {len(result.losses):,} steps, {corpus.name}", yours, list(result.validations.values())),
        (axes[1], "an H200: 5,000 steps, Multi30k", H200["training"], H200["validation"]),
    ):
        frame.plot(tenths, training, color=BLUE, label="training")
        frame.plot(tenths, validation, color=ORANGE, marker="o", label="validation")
        frame.set(title=title, xlabel="% of the run", ylim=(0, 7))
    axes[0].set(ylabel="loss in nats per token")
    axes[1].legend()
    show.figure(
        drawn, "The losses of this run and, beside it, of the whole run on a GPU; both models are the library's."
    )


beside_a_whole_run()
for what, found in {"loss at the first step": result.losses[0], "loss at the last step": result.losses[-1]}.items():
    print(f"{what}: {found:.2f} ({'no guess' if my_guess[what] is None else f'you guessed {my_guess[what]}'})")

# %% [markdown]
# The first loss is near $\ln$ of the vocabulary size, or somewhat above: random weights do not give every token quite the
# same probability. Then it falls fast. The model learns the cheap things first: which tokens are frequent, that a
# caption begins with *Ein* and ends with a full stop.
#
# On the right is the whole recipe on Multi30k, measured on one H200 in 1 min 28 s: 41.9 BLEU at its end. Every batch goes
# through its model twice, with different dropout, and how far apart the two predictions lie is added to the loss (**R-Drop**;
# Liang et al., 2021). Without it, the validation loss was 2.85 nats after half of the run and 2.80 at its end, while the
# training loss fell from 2.19 to 1.80: the model learned its 29,000 pairs by heart. With it, the validation loss comes down
# to 2.60.
#
# The loss will never reach 0. Label smoothing (lesson 05) asks the model to keep a tenth of its probability for other tokens,
# and that costs something even if every translation is right.
#
# ### 3.1 The same run, with your own classes
#
# The run above trained the library's `Transformer`. You wrote one, too: attention in lesson 01, masks in 02, positions in 03,
# heads, norms and the encoder block in 04, the decoder block and what joins the stacks in 05. The next cell joins your answers
# into one model.
#
# First, your model takes one **trial step** on this device and in this precision, with the library's weights. If its loss or
# its gradients are not the library's, if it fails, or if it takes five times as long, the cell tries your pieces one by one,
# borrows the course's for those that fail, and says so in one line.
#
# Your blocks are post-norm, as in the paper. Post-norm does not tolerate the recipe's peak, so yours get half of it, and the
# library's transformer in post-norm, with the same weights at the start, runs beside them. Is your loss after the same steps
# lower than the run's above, higher, or about the same?

# %%
my_guess["my own classes"] = None  # "lower", "higher" or "about the same"

# %%
recipe = dataclasses.replace(corpus.recipe, peak=corpus.recipe.peak / 2, norm_first=False)
own = own_transformer(recipe.model(len(pieces)), device)
print(own.told)

# %% tags=["demo"]
my_steps = 1000 if corpus.full else 25  # recipe.steps for the whole run


def first_losses(model, name):
    how = TrainingConfig(my_steps, recipe.rate(), weight_decay=recipe.weight_decay, seed=0)
    with progress_bar(my_steps, name) as tell:
        return train(model, data, recipe.loss, how, device, progress=tell).losses


torch.manual_seed(0)
librarys = Transformer(recipe.model(len(pieces)))
yours = own.model(librarys, recipe.dropout)  # before the library's weights move
of_my_steps = {
    "the library's in pre-norm": result.losses[:my_steps],
    "the library's in post-norm": first_losses(librarys, "the library's"),
    f"{own.whose} in post-norm": first_losses(yours, own.whose),
}


def beside_the_librarys():
    drawn, [axes] = show.frames(width=6.4, height=3.4)
    for (name, losses), colour in zip(of_my_steps.items(), (GREY, BLUE, ORANGE), strict=True):
        axes.plot(losses, color=colour, label=name)
    axes.set(xlabel="step", ylabel="loss in nats per token", title=f"the same run, with {own.whose}")
    axes.legend()
    show.figure(
        drawn,
        f"Three loss curves: the library's transformer in pre-norm and in post-norm, and {own.whose} in post-norm.",
    )
    ends = ", ".join(f"{name} {sum(losses[-10:]) / 10:.2f}" for name, losses in of_my_steps.items())
    print(f"mean of the last 10 losses: {ends}")
    guess = my_guess["my own classes"]
    print("your own classes, compared with the run above:", "no guess" if guess is None else f"you said {guess}")


beside_the_librarys()

# %% [markdown]
# Your classes and the library's in post-norm are the same transformer, from the same weights, and only draw their dropout in
# another order: their losses stay within a tenth of a nat. The difference between both and the run above is the
# norm's position and the rate that it tolerates.
#
# ### 3.2 Fine-tuning: sentences that people write
#
# From here on you need a translator that can translate. In the full form it is the one that you trained. In the short form
# it begins with the course's: the same synthetic captions, 3,000 steps instead of 200, in post-norm
# (`python -m course_lib.scenes.small_translator` makes it). So **its weights fit into your classes**. Load them, and go on
# learning from captions of everyday life that were written one by one (`course_lib/scenes/everyday.md` says how). This is
# **fine-tuning**, as in lesson 09.
#
# The old vocabulary of 1,000 subwords cuts everyday words to scraps, so the cell first learns 2,600 from both kinds of
# captions. A new subword begins as the mean of the vectors of the old ones that spell it (*vocabulary transfer*; Gee et al.,
# 2022). On the old vocabulary, more steps reach 8 BLEU less (`benchmarks/README.md`).
#
# You fine-tune twice, with 1,100 captions and with 100, and validate on 100 others. **Predict** the validation loss
# at the end of each: lower than after the first tenth of the steps, or higher?

# %%
ends_lower = {"1,100 captions": None, "100 captions": None}  # True or False: lower than after the first tenth

# %%
translator, whose = learned.translator, "the library's classes"
runs = {corpus.name: result}
if not corpus.full:
    pretrained, (everyday, _) = load_small_translator(), everyday_captions()
    everyday, others = everyday[:-VALIDATED], everyday[-VALIDATED:]
    texts = [text for pair in [*corpus.training, *5 * everyday] for text in (pair.source, pair.target)]
    subwords = SubwordVocabulary.train_bpe(texts, EVERYDAY.pieces, split_punctuation=True)
    translator = transfer_vocabulary(pretrained, subwords)

    def fine_tune(captions, steps):
        """Go on from the course's weights, in your own classes."""
        recipe = dataclasses.replace(EVERYDAY, steps=steps)
        learn, validate = (shared_vocabulary_data(part, subwords, recipe.max_tokens) for part in (captions, others))
        how = TrainingConfig(steps, recipe.rate(), weight_decay=recipe.weight_decay)
        model, name = own.model(translator.model, recipe.dropout), f"{len(captions):,} captions"
        with progress_bar(steps, f"{name}, {own.whose}") as tell:
            measured = Validation(validate, every=steps // 10)
            runs[name] = train(model, learn, recipe.loss, how, device, validation=measured, progress=tell)
        return model

    fine_tune(everyday[:100], steps=60)
    tuned = fine_tune(everyday, EVERYDAY.steps)
    own.give_back(tuned, translator.model)  # the library's classes, with your weights
    whose = own.whose


# %% tags=["demo"]
def fine_tuned_losses():
    drawn, axes = show.frames(2, width=7.2, height=3.2)
    for frame, name in zip(axes, ends_lower, strict=True):
        steps, losses = zip(*runs[name].validations.items(), strict=True)
        frame.plot(steps, [sum(part) / len(part) for part in torch.tensor(runs[name].losses).chunk(10)], color=BLUE)
        frame.plot(steps, losses, color=ORANGE, marker="o")
        frame.set(title=name, xlabel=f"step ({own.whose})", ylim=(0, 5))
        print(f"{name}: validation loss {losses[0]:.2f} after a tenth of the steps, {losses[-1]:.2f} at the end")
        show.prediction(f"{name}, lower at the end", ends_lower[name], losses[-1] < losses[0])
    axes[0].set(ylabel="loss in nats per token")
    axes[0].legend(["training", "validation"])
    show.figure(
        drawn, f"Training and validation losses of two fine-tunings of {own.whose}, with many captions and few."
    )


if corpus.full:
    print("(in the short form only)")
else:
    fine_tuned_losses()

# %% [markdown]
# With 1,100 captions the validation loss falls to the end. With 100 it soon rises, while the
# training loss goes on falling: the model learns its hundred captions by heart. This is **overfitting**, and section 4 is
# about when to stop.
#
# How many captions does it take? BLEU on the 200 everyday captions of the test, after 240 steps with the first *n* of them
# (`python -m benchmarks.captions after --pairs n`):
#
# | captions | 100 | 200 | 400 | 1,100 |
# |---|---|---|---|---|
# | BLEU | 13.7 | 24.9 | 32.1 | 51.4 to 52.8 (four seeds) |
#
# The curve still rises, so more captions would help. The rest of the lesson uses the model of 1,100. Its weights go
# back into the library's `Transformer`, which computes the same, and has a KV cache (lesson 06), so that it translates faster.
#
# **A good point to stop for the day.** The checkpoints are in their folder.
#
# ## 4. Which checkpoint?
#
# A run leaves several checkpoints. The last is not always the best: on little data, a model learns to repeat its
# training sentences, and the loss on *other* sentences rises again. So you measure the loss on the validation part, keep the
# checkpoint with the smallest, and do not wait for ever: after a number of measurements in a row without a new best, the
# **patience**, the run ends (**early stopping**).
#
# ### Exercise 5 · Which checkpoint to keep
# `die_katze.choose_checkpoint` · 3 points · about 12 minutes
#
# Go through the losses as the run would. Return the number of the best checkpoint (from 0, the earliest of equals) and how many
# were measured before the run ended. It ends with the `patience`-th measurement in a row without a new best, or with the list.

# %% [markdown] tags=["fine-print"]
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
# The distance from the best measurement is how many have come since without a new best. Counting how often a loss was
# worse than the one before is something else: a loss may fall for a while and still be worse than the best. What comes
# after the end was never measured, so the minimum of the whole list would be knowledge of the future. With < instead of
# <=, an equal loss does not restart the wait.

# %% nbgrader={"grade": true, "grade_id": "die_katze-choose_checkpoint-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("die_katze.choose_checkpoint")
### BEGIN HIDDEN TESTS
check("die_katze.choose_checkpoint", hidden=True)
### END HIDDEN TESTS


# %% tags=["demo"]
@show.when_ready
def stopped():
    for name, found in runs.items():
        steps, losses = zip(*found.validations.items(), strict=True)
        best, seen = choose_checkpoint(list(losses), 3)
        print(f"{name}: with a patience of 3 the run makes {seen} of {len(losses)} validations;")
        print(f"    the best is {losses[best]:.3f}, after step {steps[best]:,}; the last would be {losses[-1]:.3f}.")


# %% [markdown]
# In the short form, patience ends the run with 100 captions early and leaves the two others alone. The recipe of section 3
# also takes **the mean of the last checkpoints' weights** (the paper's section 6.1): late in a run they circle around a good
# point, and the mean is nearer to its middle.
#
# ### 4.1 What each of them knows
#
# Three translators of the short form: the 200 steps of section 3, the course's before its fine-tuning, and yours after it.

# %%
trials = [
    "A cat is sleeping on a red sofa.",
    "Two children are putting up a tent in the garden.",
    "The cat is dancing on the table.",
    "The old man reads the letter in the kitchen.",
]
translators = (
    {"this run": learned.translator}
    if corpus.full
    else {
        "200 steps": learned.translator,
        "3,000 steps": pretrained,
        "fine-tuned": translator,
    }
)
said = [one.translate(trials, beams=corpus.recipe.beams) for one in translators.values()]
for sentence, *found in zip(trials, *said, strict=True):
    print(sentence, *(f"    {name}: {text}" for name, text in zip(translators, found, strict=True)), sep="\n")

# %% [markdown]
# After 200 steps the model reads the frequent words, and where a word is rare it writes what captions sound like: fluent, and
# about something else. After 3,000 steps it gets the first two right.
#
# And *die Katze*, on whom this course has been waiting for eleven lessons? Look at her table. In the synthetic captions things
# are *a* thing, so the course's translator has hardly ever seen a noun with a definite article: *auf der Tisch*. The everyday
# captions have *the* everywhere, and after fine-tuning on them she dances *auf dem Tisch*. But fine-tuning costs something,
# too: look for the tent. Section 6.2 measures how much.
#
# ## 5. What it looks at
#
# No label says which German word belongs to which English one. Watch the cross-attention of the last block while the
# translator writes.


# %% tags=["demo"]
@torch.no_grad()
def watched(sentence):
    """What the model does for a sentence: its tokens, those it writes, the likeliest ones, all cross-attention."""
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


seen = [watched(sentence) for sentence in trials[:3]]
show.matrices(
    *(
        show.Panel(f"“{sentence}”", looked.alpha[-1].mean(dim=0), looked.target, looked.source)
        for sentence, looked in zip(trials[:2], seen[:2], strict=True)
    ),
    alt="Cross-attention of the last block over the tokens of two English sentences, for each German token.",
)

# %% [markdown]
# A row is a German token that is about to be written, a column an English one. Find the verb, which comes earlier in German
# than the words it is made from, and in the second sentence its prefix, which comes last and still looks back at *putting*
# and *up*. Below, watch three translations grow, and choose layer and head. (There, everything is in small letters, and
# ▪ is the full stop. The weights were trained in your classes; the library's compute the picture.)

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
# Lesson 06's question, put to a real translator: does it help to follow several translations at once? The test is the hard
# one (or test2016). **Predict** which way has the higher BLEU, and in how many of fifty sentences the two differ at all.

# %%
higher_bleu, differ_in = "", None  # "greedy" or "beam"; of 50

# %%
name, pairs = list(corpus.tests.items())[-1]
pairs = pairs[:50]
sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
said = {beams: translator.translate(sources, beams=beams) for beams in (1, corpus.recipe.beams)}
found = {beams: bleu(Texts.paired(texts, references)) for beams, texts in said.items()}
differ = sum(one != other for one, other in zip(*said.values(), strict=True))

# %% tags=["demo"]
for beams, found_texts in said.items():
    length = sum(len(text.split()) for text in found_texts) / len(found_texts)
    way = "greedy" if beams == 1 else f"{beams} beams"
    print(f"{way}: BLEU {found[beams].corpus:.2f} on {len(pairs)} of the test {name!r}, {length:.2f} words a sentence")
print(f"{differ} of {len(pairs)} translations differ.")
bleu_of_ways = {"greedy" if beams == 1 else "beam": one.corpus for beams, one in found.items()}
show.prediction("higher BLEU", higher_bleu, max(bleu_of_ways, key=bleu_of_ways.get))
show.prediction("translations that differ", differ_in, differ)

# %% [markdown]
# A beam finds translations that the model thinks more probable. Whether they are *better* depends on whether the model is
# right about what is probable. In the short form, on sentences with words that it does not know, five beams find translations
# that are more probable, and shorter, since every further word costs probability. Keep that in mind whenever somebody sells
# you search as understanding.
#
# ### 6.2 The score
#
# Lesson 10 taught you to ask for the **signature** before you believe a BLEU. Before you run the next cell, guess: what does the
# course's translator score on each test *before* fine-tuning, after its 3,000 steps on 6,000 synthetic captions? And what do
# your 240 steps on everyday captions make of it? (With Multi30k there is one test, and one guess.)

# %%
my_scores = {"by rule": None, "everyday": None, "by hand": None, "test2016": None}  # BLEU before, from 0 to 100
my_scores_after = {"by rule": None, "everyday": None, "by hand": None}


# %%
def scored(translator, guesses, when):
    """The translations of each test; their BLEU is printed."""
    print(when)
    translations = {
        name: translator.translate([pair.source for pair in pairs], beams=corpus.recipe.beams)
        for name, pairs in corpus.tests.items()
    }
    for name, pairs in corpus.tests.items():
        texts = Texts.paired(translations[name], [pair.target for pair in pairs])
        cased, lower = bleu(texts), bleu(texts, lowercase=True)
        right = sum(text == pair.target for text, pair in zip(translations[name], pairs, strict=True))
        guess = "no guess" if guesses[name] is None else f"you guessed {guesses[name]}"
        print(f"{name}: BLEU {cased.corpus:.2f}, lower-cased {lower.corpus:.2f} ({guess});", end=" ")
        print(f"{right} of {len(pairs)} word for word")
    print(cased.signature.partition(";")[0])
    return translations


if corpus.full:
    translations = scored(translator, my_scores, "your run:")
    print("The best text-only figure that we know for test2016, lower-cased, is 41.02 (Wu et al., 2021).")
else:
    before = scored(pretrained, my_scores, "before fine-tuning:")
    translations = scored(translator, my_scores_after, f"after fine-tuning ({whose}):")
    after = bleu(Texts.paired(translations["everyday"], [pair.target for pair in corpus.tests["everyday"]]))
    keep_figure("11_die_katze", f"everyday captions, translated by {whose}", f"{after.corpus:.1f} BLEU")

# %% [markdown]
# Before fine-tuning, two numbers of the short form say more than any other pair in this course. On synthetic captions the
# translator is nearly perfect. Of the captions that were written one by one, about the same cats, tents and bicycles, it gets
# 18 BLEU, and none of the hard ones right. With the first test alone, cut from the same cloth as the training part as tests
# usually are, we would have announced a translator of 99 BLEU. **A test tells you about sentences like those in the test.**
# Ask where they come from.
#
# After 240 steps on 1,100 everyday captions, the test of that kind has about three times as many points, and the hard test, of
# which it has seen nothing, about twice as many. And the first score has fallen by more than half: nothing in the new data
# asked for the old grammar. This is **catastrophic forgetting** (McCloskey and Cohen, 1989). Mixing old data into the new is
# the usual remedy.
#
# Multi30k's test is harder, and still of one kind: somebody in a blue shirt, in the present tense.
#
# ### 6.3 How sure is the score?
#
# With other sentences of the same kind in the test, the score would be another. How different? You cannot collect a
# hundred more tests, but you can act as if: draw, **with replacement**, as many sentences as you have, and score them. Do it
# a few hundred times, and the spread of the scores tells you how far to trust the one you have. This is the **bootstrap** (Efron, 1979; for BLEU: Koehn, 2004), and the interval that
# holds the middle 95 of 100 scores goes beside every honest BLEU.
#
# A sample is scored as a *corpus*: add up its sentences' counts first, and score them once.
#
# ### Exercise 6 · How sure is the score?
# `die_katze.bootstrap_interval` · 4 points · about 20 minutes
#
# Return the 2.5 % and the 97.5 % quantile of the samples' scores, as `torch.quantile` finds them (with straight lines between
# neighbours). `score` is a function: it takes sums of counts, `[kinds]`, and returns the corpus's score, a float. The samples
# are drawn for you.

# %% [markdown] tags=["fine-print"]
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
# Indexing with a row of numbers repeats a sentence that was drawn twice, which is what drawing with replacement means. Add up
# the counts before you score them, because corpus BLEU is a function of sums; the mean of sentence scores is
# another number (lesson 10). Quantiles assume no normal distribution; the mean plus and minus 1.96 deviations does, and near 100
# there is no room for it. The smallest and the largest score would move apart with more samples.

# %% nbgrader={"grade": true, "grade_id": "die_katze-bootstrap_interval-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("die_katze.bootstrap_interval")
### BEGIN HIDDEN TESTS
check("die_katze.bootstrap_interval", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now with your own BLEU: the counts of a sentence are its clipped n-grams, matched and said, and the two lengths, and lesson
# 10's functions make the score of them, yours where they have passed. **Predict** how wide the intervals are, from the
# lower to the upper end.

# %%
my_widths = {"by rule": None, "everyday": None, "by hand": None, "test2016": None}  # in points of BLEU

# %%
clipped_ngrams, corpus_bleu, brevity_penalty = answer(
    "evaluation.clipped_ngrams", "evaluation.corpus_bleu", "evaluation.brevity_penalty"
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
    axes.set(
        xlim=(0, 105),
        ylim=(-0.6, len(corpus.tests) - 0.3),
        title=f"BLEU, with the middle 95 % of 300 samples ({whose})",
    )
    show.figure(drawn, "The BLEU of each test as a dot on a bar that shows the bootstrap's interval.")


# %% [markdown]
# The interval knows about chance, and about nothing else. A bootstrap of one test says nothing about another: whichever everyday
# captions you draw, they are everyday captions.
#
# ## 7. The worst ten
#
# You learn more from sentences than from a score. Take the ten worst by sentence BLEU, and *read* them.

# %%
judged = "test2016" if corpus.full else "everyday"
pairs = corpus.tests[judged]
by_sentence = bleu(Texts.paired(translations[judged], [pair.target for pair in pairs])).sentences
worst = sorted(range(len(pairs)), key=by_sentence.__getitem__)[:10]
for number in worst:
    print(f"{by_sentence[number]:4.1f}  {pairs[number].source}")
    print(f"      {translations[judged][number]}\n      {pairs[number].target}")

# %% [markdown]
# Each of them goes wrong in its own way, but not in ten ways. Most lose a part of the sentence; one mixes two nouns up; and
# one may be perfectly good German in another order, which BLEU does not know. Sorting tells you what to fix first, and a
# program can do a rough sorting without knowing what a single word means.
#
# ### Exercise 7 · What went wrong
# `die_katze.sort_error` · 3 points · about 15 minutes
#
# Compare a translation with its reference and return the **first** of these that holds:
#
# - `"right"`: the same words in the same order;
# - `"order"`: the same words, each as often, in another order;
# - `"form"`: the same words if only the first four letters of each counted, in any order (*rote* and *rotem* begin alike);
# - `"repeated"`: some word of the reference occurs more often than it does there;
# - `"short"`: fewer words than the reference;
# - `"word"`: anything else.

# %% [markdown] tags=["fine-print"]
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
# another order. Each question relies on the ones before it having failed, so their order is part of the
# answer: another order of the same words would also pass as "form". A repeated word must be one that the reference has;
# a strange word that is said twice is two wrong words. This sorting is rough (*einen* for *eine* is a form, *ein* for
# *eine* too short to be one), but it is the same for every sentence, and you can count it.

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
    drawn, [axes] = show.frames(width=7.0, height=3.0)
    for index, (name, counts) in enumerate(found.items()):
        shares = [100 * counts[kind] / counts.total() for kind in kinds]
        positions = [position + 0.28 * index for position in range(len(kinds))]
        shown = axes.bar(positions, shares, width=0.27, color=[BLUE, ORANGE, GREEN][index], label=name)
        axes.bar_label(shown, [f"{share:.0f}" for share in shares], padding=2, fontsize=9)
        print(f"{name}:", ", ".join(f"{counts[kind]} {kind}" for kind in kinds))
    axes.set_xticks([position + 0.14 * (len(found) - 1) for position in range(len(kinds))], labels=kinds)
    axes.set(ylim=(0, 70), title=f"what went wrong, in % of the sentences ({whose})", yticks=[0, 25, 50])
    axes.legend(loc="upper center", ncols=3)
    show.figure(drawn, "Bars: what share of each test's translations is right, or wrong in each of five ways.")
    print(
        "of the worst ten:",
        dict(Counter(sort_error(split(translations[judged][i]), split(pairs[i].target)) for i in worst)),
    )


# %% [markdown]
# ### 7.1 What a person says
#
# Last, a person. Here are eight translations, drawn at random from the same test. How much of what the English says does the
# German say? If you read no German, compare with the reference in brackets.

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
    print(f"Your mean grade is {given.mean():.2f} of 5; its correlation with sentence BLEU is {together:+.2f}.")
else:
    print("(you have not graded all of them yet)")
for i in asked:
    print(f"{by_sentence[i]:5.1f}  {translations[judged][i]}")

# %% [markdown]
# ### Exercise 8 · In your own words
# `die_katze.what_next` · 3 points, read by a person · about 15 minutes
#
# You have one more evening and the same machine. (a) From the errors that you read and counted, name the two that you would
# tackle first, each with a sentence from your own output. (b) For each say what you would change: the data, the model, the
# training or the search; and why that should help with *this* kind of error. (c) How will you find out whether it did? Say on
# which sentences you would measure it, and what could fool you. Six to ten sentences.
#
# Learning on your own? Once yours is written,
# `solution("die_katze.what_next")`, in a cell of its own, shows one good answer and what earns its points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "die_katze-what_next-written", "locked": false, "points": 3, "schema_version": 3, "solution": true, "task": false}
# (a) More than a third of the everyday translations are too short: *At home my father sings in the kitchen.* came out as *In der
# Küche singt nach Hause*, and nobody sings. The second are the forms: *Ich findet* and *meiner Sohn* have the right words with
# the wrong endings.
#
# (b) The short ones lose a word that the model has met in a handful of captions, so no other search or larger model will help:
# it has little to say. I would add data, more captions with the rare words in them; from 400 to 1,100 captions the curve still
# rises. The endings are another matter. The synthetic captions have thousands of right ones, and before fine-tuning the model
# had learned them: it forgot. So I would mix synthetic captions into the fine-tuning, as many as everyday ones.
#
# (c) I measure both on everyday captions that I have not read. For the endings I would write fifty pairs that differ only in gender or case, and count the right ones,
# since BLEU hardly notices them, and report the bootstrap's interval of the difference. What could fool me: a test made by the
# same rules as the new data would rise even if nothing else became better, and length alone moves BLEU through the brevity
# penalty.
#
# *(One point: two kinds of error, each with a sentence from the output. One point: a change for each that fits its cause. One
# point: measured on fresh sentences of the right kind, with a way to be fooled.)*

# %% [markdown]
# ## 8. If you want more
#
# Ungraded, and each good for an evening:
#
# - **More everyday captions.** The curve of section 3.2 still rises. Write a hundred captions with one word that the test
#   lacks, fine-tune with and without them, and draw the two intervals.
# - **Less forgetting.** Mix the synthetic captions into the fine-tuning (`python -m benchmarks.captions together` trains on
#   both from the start). What does the synthetic test gain, and what does the everyday test lose?
# - **Warmup, stable, decay.** Train with your `trapezoid_schedule` in place of the recipe's schedule, and end it at three
#   lengths from one constant part.
# - **A length penalty.** `beam_search` has one. Does it help with the short ones?
#
# ## Glossary
#
# - **effective batch**: all that the weights learn from in one step, on all devices, accumulated batches included.
# - **gradient accumulation**: adding up the gradients of several batches before the weights move.
# - **padding**: what fills a batch's shorter rows; it is multiplied like tokens, and masked.
# - **mixed precision**: products in 16 bits, weights and sums in 32.
# - **R-Drop**: reading each batch twice, with different dropout, and drawing the two predictions together.
# - **checkpoint**: all that a run needs to go on: weights, optimizer, order of the data, state of the random numbers.
# - **WSD schedule**: warm-up, a constant rate, and a cool-down to 0 wherever the run is to end.
# - **fine-tuning**: training a trained model further, on other data.
# - **overfitting**: learning the training examples by heart, at the expense of others.
# - **catastrophic forgetting**: what fine-tuning does to old data that is not in the new.
# - **patience, early stopping**: how many measurements without a new best a run is allowed before it ends.
# - **bootstrap**: drawing from the test sentences, with replacement, to see how far a score spreads.
#
# ## What you have now
#
# A translator that you planned, fed, trained, stopped, resumed, fine-tuned, measured and read: the machine of the 2017
# paper, at a hundredth of its size, and nothing in it is a black box to you. You also know how far apart two scores of one
# model can be, and will not trust a single one again.
#
# *Die Katze* tanzt auf *dem* Tisch.
