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
# # Lesson 06 · Decoding
#
# A cat that sees a mouse has many next steps to choose from, and takes one. Then it looks again. A decoder writes a
# sentence just like that: it holds a probability for every next word, one word is chosen, and the question is asked
# again.
#
# The model only ever answers the question *what comes next?* How its answers become a sentence is left to us, and there
# is more than one way: always the most probable word, several beginnings side by side, or a roll of the dice. At the end
# of this lesson you will have written all three, you will know when each is the right one, and you will have made them
# fast.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | greedy decoding | 3 | 15 |
# | 2 | the probability of a whole sentence | 3 | 12 |
# | 3 | a prediction: what does a search find? | 2 | 10 |
# | 4 | beam search | 6 | 35 |
# | 5 | a penalty for short sentences | 2 | 8 |
# | 6 | temperature | 2 | 6 |
# | 7 | top-k | 3 | 10 |
# | 8 | the nucleus | 3 | 18 |
# | 9 | one step with a key-value cache | 3 | 15 |
#
# Stuck? `hint("decoding.greedy")` opens a hint, and with each further call the next one. `solution(...)` shows the
# answer with its reason, once you have tried; `progress()` shows how far you are.
#
# Every model in this lesson is used in the same way, as a **step function**: the words so far go in, the logits of the
# next word come out. That is all that decoding needs to know of a model.
#
# Three rules for all exercises. Results are as precise as the numbers that come in: double precision stays double. Nothing
# is learned in decoding, so gradients are not compared. And where points are split, as in *2 for the values, 1 for …*, the
# others count only once those for the values are earned.

# %%
import functools
import math
import random

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.attention import scaled_dot_product_attention
from course_lib.checking import case, check, hint, progress, solution
from course_lib.decoding.state import begin_decoding
from course_lib.hooks import record_attention
from course_lib.models import GPT, GPTConfig, Transformer, TransformerConfig
from course_lib.objectives.losses import lowest_smoothed, translation_loss
from course_lib.text.batches import translation_data
from course_lib.text.tokenization import END_ID, START_ID, WordVocabulary
from course_lib.toys.grammar import Sentence, is_held_out, random_clause
from course_lib.training.loop import TrainingConfig, train
from course_lib.training.progress import progress_bar
from course_lib.training.schedules import linear_schedule

show.use_style()
torch.set_printoptions(precision=4, sci_mode=False)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## 1. No teacher at test time
#
# During training the decoder was spoilt. To learn *the cat danced* → *die Katze tanzte* it read the right German words,
# shifted by one, and had to name the next one at every position. Whatever nonsense it said at word 2, at word 3 it was
# handed the right beginning again. That is **teacher forcing**, and thanks to the causal mask all positions are trained at
# once.
#
# At test time nobody knows the right words. S4 puts it plainly: there is no translation to mask, so the model must
# predict one word, read it as if it were given, predict the next, and so on. Each word depends on those before it, and
# every word depends on the model's own choices.
#
# We need a translator to watch, and something for it to learn: clauses of the course's toy grammar, some of them with
# *yesterday* in front. Clauses built like *the cat danced* are held out: it will never see one in training.

# %%
rng = random.Random(0)
pairs, held_out = {}, {}
while len(pairs) < 6000:
    drawn_sentence = Sentence(random_clause(rng), opening=rng.choice([None, ("yesterday", "gestern")]))
    (held_out if is_held_out(drawn_sentence) else pairs)[drawn_sentence.pair().source] = drawn_sentence.pair()
english = WordVocabulary.from_sentences(pair.source for pair in pairs.values())
german = WordVocabulary.from_sentences(pair.target for pair in pairs.values())
print(f"{len(pairs)} pairs to learn from, {len(english)} English tokens and {len(german)} German ones, such as")
for pair in list(pairs.values())[:3]:
    print(f"  {pair.source} → {pair.target}")

sizes = TransformerConfig(len(english), len(german), d_model=64, heads=2, d_ff=256, encoder_layers=1, decoder_layers=1)
models = {}  # by how many steps they were trained
BEGINNER, TRAINED = 160, 500

# %% [markdown]
# The next cell trains two very small translators, one encoder block and one decoder block each, in a few seconds. The
# second learns three times as long as the first. The first remains a **beginner**, and will come in useful when we need
# somebody who is often in doubt.
#
# **Guess first:** what are the losses of their last steps? To guess evenly among all the German words would cost a little
# over 5 nats. The next cell tells you how near you were. (There are more such cells tonight, and nobody collects them.)

# %%
losses_in_the_end = {"beginner": None, "trained": None}  # in nats

# %% tags=["demo"]
torch.set_num_threads(1)  # matrices as small as these gain nothing from a second one
batches = translation_data(list(pairs.values()), english, german, max_tokens=1000)
for steps in (BEGINNER, TRAINED):
    torch.manual_seed(0)
    models[steps] = Transformer(sizes)
    schedule = linear_schedule(peak=3e-3, warmup=min(100, steps), steps=steps)
    called = "beginner" if steps == BEGINNER else "trained"
    with progress_bar(steps, called) as progress_of_training:
        result = train(
            models[steps],
            batches,
            functools.partial(translation_loss, smoothing=0.1),
            TrainingConfig(steps, schedule, precision="fp32", seed=0),
            device,
            progress=progress_of_training,
        )
    models[steps].eval()
    show.prediction(called, losses_in_the_end[called], result.losses[-1], " nats")
show.loss_curve(
    result.losses, title="loss in nats, with label smoothing of 0.1", floor=lowest_smoothed(len(german), 0.1)
)

# %% [markdown]
# And this is the step function of a translator for one English sentence. The encoder reads the sentence once, when the
# first word is asked for; the decoder reads the German words so far, and we keep only what it says after the **last** of
# them. (It says something at every position. At the others we decided long ago.)


# %%
def translator(trained_for=TRAINED):
    """The translator that was trained for this many steps; before that, one that guesses."""
    if trained_for not in models:
        print("Not trained yet, so what follows is guesswork: run the cell of section 1 that trains it.")
        models[trained_for] = Transformer(sizes).to(device).eval()
    return models[trained_for]


def step_for(sentence, trained_for=TRAINED):
    """The step function that translates this sentence: ids so far, <s> first -> logits of the next token."""

    @functools.cache
    def encoded():
        return translator(trained_for).encode(torch.tensor([english.encode(sentence)], device=device))

    def step(tokens):
        with torch.no_grad():
            source = encoded()
            read = torch.as_tensor(tokens, device=device).unsqueeze(0)
            return translator(trained_for).decode(read, source)[0, -1].cpu()

    return step


# %% [markdown]
# ## 2. One word after the other
#
# The simplest choice: **at every step the most probable word.** This is *greedy* decoding, and S2 steps through it.
# The decoder reads `<s>` and says *die*. It reads `<s>` *die* and says *Katze*. It reads `<s>` *die Katze* and says
# *tanzte*. It reads `<s>` *die Katze tanzte* and says `<e>`, and that is the end.
#
# `<e>` is a word like any other, with a probability like any other. Nothing stops a model from never saying it, so every
# decoder needs a limit as well.
#
# ### Exercise 1 · Greedy decoding
# `decoding.greedy` · 3 points (2 for the values, 1 for the limit) · about 15 minutes
#
# Write the loop. It gets a step function, the ids of `<s>` and `<e>` (two different ones, which need not be those of this
# lesson), and the most words that may be written, at least 1. After `<e>` the model is not asked again.
#
# Shapes: `step` takes the ids so far, int64 `[tokens]` (a plain list of them does as well), beginning with `start_id`, and
# returns logits `[vocab_size]`, −∞ for a token that cannot follow. The result is int64 `[new]`: the tokens that were written,
# so without `<s>`, and with `<e>` if it was reached. `<e>` counts among the `max_new_tokens` tokens, `<s>` does not.


# %% nbgrader={"grade": false, "grade_id": "decoding-greedy-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def greedy(step, start_id, end_id, max_new_tokens):
    """Write the most probable token at every step.

    step: int64 [tokens] -> logits [vocab_size] of the next token
    start_id, end_id: ids of <s> and <e>
    max_new_tokens: int, at least 1, the most tokens to write, <e> included
    returns: int64 [new], without <s>, with <e> where it was reached
    """
    ### BEGIN SOLUTION
    tokens = [start_id]
    while len(tokens) <= max_new_tokens and tokens[-1] != end_id:
        tokens.append(int(step(torch.tensor(tokens)).argmax()))
    return torch.tensor(tokens[1:])
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Greedy search takes the most probable word each time; the softmax keeps the order of the logits, so `argmax` of the
# logits is enough. The words written so far go back in, all of them, because a decoder remembers nothing between calls.
#
# Where loops go wrong is their ends. `<e>` belongs to the result, it counts among the words, and after it the model is
# not asked again; `<s>` was given and not written, so it is left out and does not count. Checking the length with the
# start included makes every limited sentence one word too short.

# %% nbgrader={"grade": true, "grade_id": "decoding-greedy-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoding.greedy")
### BEGIN HIDDEN TESTS
check("decoding.greedy", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now watch your loop translate. For every word the picture shows what the decoder had read, where its cross-attention
# looked in the English sentence (the mean of its two heads), and which German words it thought likely. Below the picture
# there is a slider that goes through the same steps one by one.
#
# The numbers come from a single pass: we give the finished sentence back to the decoder, and thanks to the causal mask it
# says at each position exactly what it said when that position was the last.


# %% tags=["demo"]
def watched(sentence, written):
    """What the trained decoder sees and says while it reads what it has written: alpha, and probabilities."""
    model = translator()
    read = torch.tensor([[START_ID, *written[:-1].tolist()]], device=device)
    with torch.no_grad():
        encoded = model.encode(torch.tensor([english.encode(sentence)], device=device))
        with record_attention(model.decoder[0].cross_attention) as weights:
            said = torch.softmax(model.decode(read, encoded), dim=-1)
    return weights[0][0].mean(dim=0).cpu(), said[0].cpu()


@show.when_ready
def token_by_token():
    sentence = "the cat danced"
    written = greedy(step_for(sentence), START_ID, END_ID, 12)
    alpha, said = watched(sentence, written)
    tokens = [german.words[token] for token in written.tolist()]
    steps = []
    for position in range(len(tokens)):
        likely = said[position].topk(4)
        names = [german.words[token] for token in likely.indices.tolist()]
        candidates = list(zip(names, likely.values.tolist(), strict=True))
        steps.append(show.Written(["<s>", *tokens[:position]], candidates, alpha[position].tolist()))
    print(f"{sentence} → {' '.join(tokens)}")
    show.writing(
        sentence.split(),
        steps,
        alt="Four steps: <s> looks at the and thinks die; die looks at cat, Katze at danced; after tanzte comes <e>.",
    )


# %% [markdown]
# The attention walks along the sentence from left to right, one English word for each German one. Does it always? German
# puts the verb second, whatever comes first, so after *gestern* the verb must come before the subject.


# %% tags=["demo"]
@show.when_ready
def the_attention_crosses():
    panels = []
    for sentence in ("the cat danced", "yesterday the cat danced"):
        written = greedy(step_for(sentence), START_ID, END_ID, 12)
        alpha, _said = watched(sentence, written)
        tokens = [german.words[token] for token in written.tolist()]
        looked = [sentence.split()[position] for position in alpha.argmax(dim=-1).tolist()]
        print(" ".join(f"{token}←{source}" for token, source in zip(tokens, looked, strict=True)))
        panels.append(show.Panel(f"alpha: {' '.join(tokens[:-1])}", alpha, tokens, sentence.split()))
    show.matrices(
        *panels,
        alt="Cross-attention of two sentences. The first is a diagonal; after gestern the verb jumps ahead and back.",
    )


# %% [markdown]
# Row by row: to write *tanzte* after *gestern* the decoder jumps ahead to *danced*, then comes back for *the* and *cat*.
# Nobody told it which word translates which. It found out because looking there pays.
#
# (What it looks at while it says `<e>` matters little. It has to look somewhere, because its weights sum to 1.)
#
# **And if it makes a mistake?** Then it must live with it: at the next step its own wrong word is part of the beginning, and
# it has never seen a wrong beginning in training. Some call this *exposure bias* (Ranzato et al., 2016). Let us
# put a wrong first word into its mouth and see how it goes on.


# %% tags=["demo"]
@show.when_ready
def a_wrong_beginning():
    def after_a_token(token):
        step = step_for("the cat danced")
        return lambda tokens: step([START_ID, german.ids[token], *tokens[1:].tolist()])

    for token in ("der", "ein", "gestern", "Hund"):
        rest = greedy(after_a_token(token), START_ID, END_ID, 10)
        print(f"{token:8} → {token} {' '.join(german.words[token] for token in rest.tolist())}")


# %% [markdown]
# Sometimes it makes the best of it, sometimes not. Either way, it can never take the word back. That is the price of
# greed, and the next sections are about paying less.
#
# ## 3. How probable is a sentence?
#
# To say that one sentence is better than another we need a number for a whole sentence. The **chain rule** gives it: the
# probability of a German sentence $e = e_1, \dots, e_n$ for an English sentence $f$ is
#
# $$P(e \mid f) = \prod_{t=1}^{n} P(e_t \mid e_1, \dots, e_{t-1}, f).$$
#
# Nothing is approximated here. Every factor is what the model says at one step, `<e>` included: a sentence must also *end*
# there. (S1 and S4 write the same formula; S4 has French for $f$ and English for $e$.)
#
# Try it by hand. Say the four steps of *die Katze tanzte* `<e>` had probabilities 0.6, 0.9, 0.4 and 0.9:

# %%
factors = torch.tensor([0.6, 0.9, 0.4, 0.9])
print("product of the probabilities:", factors.prod())
print("sum of their logarithms:     ", factors.log().sum(), "and exp of that:", factors.log().sum().exp())
print("0.3 to the power 90:         ", torch.tensor(0.3) ** 90, "   90 · log 0.3:", 90 * torch.tensor(0.3).log())

# %% [markdown]
# The last line is why nobody multiplies. A sentence of 90 words, each with probability 0.3, has a probability too small
# for a float: it is rounded to 0, and all long sentences look alike. Their logarithms are perfectly ordinary numbers. So
# we add logarithms:
#
# $$\log P(e \mid f) = \sum_{t=1}^{n} \log P(e_t \mid e_1, \dots, e_{t-1}, f).$$
#
# With a minus in front, and divided by $n$, this is the loss that training minimises (apart from the label smoothing).
# There the $e_t$ are the right words; here they may be any words whose probability we want to know.
#
# ### Exercise 2 · How probable a sentence is
# `decoding.sequence_log_probability` · 3 points (2 for the values, 1 for very small probabilities) · about 12 minutes
#
# Given what the model said at each position and which words stand there, compute the log-probability of the sentence, with
# the natural logarithm. Row $t$ of `logits` is what the model said about word $t$ before reading it, so nothing has to be
# shifted.
#
# The sentence may be long, and a word in it next to impossible, like one with logit 0 beside another with 120: its
# log-probability is −120, not −∞.
#
# Shapes: `logits` is `[..., tokens, vocab_size]`, all of them finite; `targets` is int64 `[..., tokens]`, the result is
# `[...]`.


# %% nbgrader={"grade": false, "grade_id": "decoding-sequence_log_probability-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sequence_log_probability(logits, targets):
    """ln P of each whole sentence, by the chain rule.

    logits: [..., tokens, vocab_size], finite, row t before token t was read
    targets: int64 [..., tokens], the tokens whose probability is wanted
    returns: [...]
    """
    ### BEGIN SOLUTION
    log_probabilities = torch.log_softmax(logits, dim=-1)
    return log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1).sum(dim=-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Products of probabilities underflow: in single precision, sixteen words of probability 0.001 are enough for 0, and a
# long text is too much for double precision as well. Sums of logarithms have no such end. For the same reason the
# logarithm is not taken of a softmax: `log_softmax` subtracts the logarithm of the sum and never forms the tiny number.
# Adding logits instead, without any normalisation, compares sentences by numbers that mean nothing from one position to
# the next. Row t already speaks about word t here, so nothing is shifted.

# %% nbgrader={"grade": true, "grade_id": "decoding-sequence_log_probability-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoding.sequence_log_probability")
### BEGIN HIDDEN TESTS
check("decoding.sequence_log_probability", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Let the translator judge some translations of *the cat danced*, good ones and bad ones: *die Katze tanzte*, *eine Katze
# tanzte*, *die Katze schlief*, *der Katze tanzte* and *Katze die tanzte*. **Guess first** which comes second, and which
# last.

# %%
second_best, worst_of_five = "", ""  # two of the five


# %% tags=["demo"]
@show.when_ready
def judged_by_the_model():
    by_hand = torch.stack([factors, 1 - factors], dim=-1).log()
    print(f"{sequence_log_probability(by_hand, torch.zeros(4, dtype=torch.long)):8.2f} nats   by hand, above\n")
    german_sentences = [
        "die Katze tanzte",
        "eine Katze tanzte",
        "die Katze schlief",
        "der Katze tanzte",
        "Katze die tanzte",
    ]
    step, found = step_for("the cat danced"), []
    for sentence in german_sentences:
        ids = [*german.encode(sentence), END_ID]
        logits = torch.stack([step([START_ID, *ids[:position]]) for position in range(len(ids))])
        found.append(sequence_log_probability(logits, torch.tensor(ids)).item())
    ranking = sorted(zip(german_sentences, found, strict=True), key=lambda pair: -pair[1])
    for sentence, value in ranking:
        print(f"{value:8.2f} nats   {sentence}")
    show.prediction("second", second_best, ranking[1][0])
    show.prediction("last", worst_of_five, ranking[-1][0])


# %% [markdown]
# A sensible order: right first, word salad last. Now that we can compare sentences, is the one that greedy decoding writes
# the most probable of all?
#
# ## 4. Where greedy decoding loses
#
# To see everything at once, take a model so small that it fits on the page. It translates *the cat danced*, it is not
# sure of the article, and it cannot decide between *die Katze tanzte* and the perfect tense *die Katze hat getanzt*.
# These are all the sentences that it can write, with the probabilities at every branch:

# %%
TREE = {
    (): {"die": 0.6, "eine": 0.4},
    ("die",): {"Katze": 0.9, "Mieze": 0.1},
    ("die", "Katze"): {"hat": 0.5, "tanzte": 0.4, "tanzt": 0.1},
    ("die", "Katze", "hat"): {"getanzt": 0.6, "gerade": 0.4},
    ("die", "Katze", "hat", "gerade"): {"getanzt": 1.0},
    ("die", "Katze", "tanzte"): {"<e>": 0.9, "dort": 0.1},
    ("die", "Mieze"): {"tanzte": 1.0},
    ("eine",): {"Katze": 1.0},
    ("eine", "Katze"): {"tanzte": 0.6, "hat": 0.4},
    ("eine", "Katze", "tanzte"): {"<e>": 0.7, "dort": 0.3},
    ("eine", "Katze", "hat"): {"getanzt": 1.0},
}  # from the tokens so far to what may follow; where nothing is said, <e> follows
VOCABULARY = "<pad> <s> <e> die eine Katze Mieze hat tanzte tanzt getanzt gerade dort".split()
LETTERS = {
    "A": "die Katze tanzte",
    "B": "die Katze hat getanzt",
    "C": "die Katze hat gerade getanzt",
    "D": "die Mieze tanzte",
    "E": "eine Katze tanzte",
    "F": "eine Katze hat getanzt",
}


def tree_step(tokens):
    """The tree as a step function: logits are log-probabilities, -inf where a token cannot follow."""
    so_far = tuple(VOCABULARY[token] for token in torch.as_tensor(tokens).tolist()[1:])
    following = TREE.get(so_far, {"<e>": 1.0})
    return torch.tensor([following.get(token, 0.0) for token in VOCABULARY]).log()


def in_words(ids):
    """Ids as a sentence, without <e>."""
    return " ".join(VOCABULARY[token] for token in torch.as_tensor(ids).tolist() if token != END_ID)


# %% tags=["demo"]
show.tree(
    TREE,
    ends={tuple(sentence.split()): letter for letter, sentence in LETTERS.items()},
    alt="A tree of nine German sentences. After die Katze: hat 0.5, tanzte 0.4, tanzt 0.1. Six have letters A to F.",
)

# %% [markdown]
# Greedy decoding keeps one beginning. Here is the idea of the next section in one sentence, so that you can predict
# before you program: a search with **several beams** keeps the 2 (or 3, or $k$) most probable *beginnings* of each
# length, and in the end writes the most probable sentence among those that it kept. One beam is greedy decoding.
#
# ### Exercise 3 · Predict first
# `decoding.sentence_found` · 2 points · about 10 minutes
#
# Which sentence does a search write with 1 beam, with 2, with 3? Go through the tree with pencil and paper: after each
# word multiply, compare all beginnings of the same length, and keep the best ones. Return for each width the letter and,
# as your reason, the probabilities of the beginnings that the search holds after the third word, the best first. The
# check says which widths are right and, for the common mistakes, what you must have believed; the right answer it keeps
# to itself.
#
# Shapes: `beams` is the int 1, 2 or 3. The result is a letter, "A" to "F", and a list of `beams` floats. After the
# *second* token the list of two beams would be `[0.54, 0.4]`. Give the products as they are, not rounded.


# %% nbgrader={"grade": false, "grade_id": "decoding-sentence_found-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sentence_found(beams):
    """The sentence that a search of this width writes, and what it holds after the third token.

    beams: int, 1, 2 or 3
    returns: str, "A" to "F", and a list of `beams` floats, the largest first
    """
    ### BEGIN SOLUTION
    return {1: ("B", [0.27]), 2: ("E", [0.27, 0.24]), 3: ("A", [0.27, 0.24, 0.216])}[beams]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A search throws away beginnings, not sentences: what counts is whether the best sentence's beginning is still held at
# each length. With one beam the search follows the best article and ends in B. With two it keeps two beginnings of
# three words and finds E, yet the best sentence of all starts with the third best beginning, so only three beams find
# A. So a wider beam is no guarantee, and a narrow one is no proof of anything. All beginnings of one length compete
# together; giving each its own best continuation would be several greedy searches side by side.

# %% nbgrader={"grade": true, "grade_id": "decoding-sentence_found-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("decoding.sentence_found")
### BEGIN HIDDEN TESTS
check("decoding.sentence_found", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Here is the tree again with the three ways that you have predicted, and with the probabilities of the sentences.


# %% tags=["demo"]
@show.when_ready
def three_ways_through_the_tree():
    ways = {f"{beams} beam{'s' if beams > 1 else ''}": LETTERS[sentence_found(beams)[0]].split() for beams in (1, 2, 3)}
    ends = {}
    for letter, sentence in LETTERS.items():
        tokens = sentence.split()
        positions = range(len(tokens) + 1)
        factors = [
            TREE.get(tuple(tokens[:position]), {"<e>": 1.0})[[*tokens, "<e>"][position]] for position in positions
        ]
        ends[tuple(tokens)] = f"{letter}  {math.prod(factors):.4f}"
    show.tree(
        TREE,
        ways={name: [*tokens, "<e>"] for name, tokens in ways.items()},
        ends=ends,
        alt="The tree with three ways: one beam to die Katze hat getanzt, two to eine Katze tanzte, three to die Katze tanzte.",
    )


# %% [markdown]
# You can see why greed loses. *hat* is the most probable **word** after *die Katze*, because every sentence in the
# perfect tense begins with it. But then these sentences part ways, and none of them gets much. *tanzte* is less probable
# as a word and leads to the most probable **sentence**, the lecture's own.
#
# Auxiliaries, articles, prepositions: real languages are full of words that are probable because so many different things
# may follow them.
#
# ## 5. Several beginnings at once
#
# **Beam search**, then. At each step it holds a list of beginnings with their log-probabilities. It
#
# 1. continues every beginning with every word of the vocabulary: these are the candidates, each with the log-probability
#    of its beginning plus that of the new word;
# 2. puts the sentences that are already finished among the candidates, as they are: a sentence that has its `<e>` is not
#    continued, and its score stays;
# 3. keeps the best `beams` of all candidates.
#
# It starts from the single beginning `<s>` with log-probability 0 and ends after `max_new_tokens` steps, or earlier when there
# is nothing left to continue. It returns the best of what it holds.
#
# With one beam for every sentence this is certain to find the best one. With fewer it may not, as you have just seen with
# two. The transformer paper used 4 beams (Vaswani et al., 2017, section 6.1).
#
# ### Exercise 4 · Beam search
# `decoding.beam_search` · 6 points (5 for the values, 1 for more beams than words) · about 35 minutes
#
# Write it for one sentence, with plain Python lists if you like. Speed is no concern here.
#
# Shapes: as for `greedy`, with `beams`, an int of at least 1. The result is int64 `[new]`, the best sentence, without `<s>`.
# A sentence that has no `<e>` after `max_new_tokens` tokens counts as it is. The vocabulary may be smaller than `beams`.
#
# (Programs count finished sentences in three ways: they keep their beam, as above; they are set aside, and beginnings
# move up into their beams; or they are set aside and take their beams along, so that the search gets narrower. All three
# are accepted. The checks ask only where all three find the same. In each of them an ending counts only if it is among
# the best of its step, and the search may stop early only when nothing that is still under way could become the best: not
# as soon as one sentence is finished, nor when `beams` of them are.)


# %% nbgrader={"grade": false, "grade_id": "decoding-beam_search-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def beam_search(step, start_id, end_id, beams, max_new_tokens):
    """The most probable of the sentences that a search finds which keeps the `beams` best at every step.

    step, start_id, end_id, max_new_tokens: as for greedy
    beams: int, how many sentences to keep
    returns: int64 [new], without <s>, with <e> where it was reached
    """
    ### BEGIN SOLUTION
    kept = [(0.0, [start_id])]
    for _ in range(max_new_tokens):
        candidates = [sentence for sentence in kept if sentence[1][-1] == end_id]
        for score, tokens in kept:
            if tokens[-1] != end_id:
                log_probabilities = torch.log_softmax(step(torch.tensor(tokens)), dim=-1).tolist()
                candidates += [(score + more, [*tokens, token]) for token, more in enumerate(log_probabilities)]
        kept = sorted(candidates, reverse=True)[:beams]
    return torch.tensor(kept[0][1][1:])
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The score of a beginning is its log-probability, so adding a word adds the logarithm of the word's probability. The
# log-softmax is what makes beginnings comparable: raw logits of two steps have different, arbitrary offsets.
#
# Finished sentences stay among the candidates with the score that they have, and must go on earning their place.
# Stopping at the first one that finishes, or continuing after `<e>`, are the usual mistakes: the first returns short
# sentences that a better one would have overtaken, and the second changes scores of sentences that are over. All
# candidates of a step are sorted together, whatever they continue. With a separate best for each parent, beams would
# never die out, and the search would be several greedy ones.

# %% nbgrader={"grade": true, "grade_id": "decoding-beam_search-check", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("decoding.beam_search")
### BEGIN HIDDEN TESTS
check("decoding.beam_search", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# First: does the program agree with your pencil? Then the question that matters for practice: **how many beams are
# enough?** We make up a hundred models at random, each with four words and `<e>`, so small that a search with 1000 beams
# sees every sentence of up to five words, and count how often a narrow search finds the most probable one. **Guess first:**
# how often does greedy decoding, one beam, find it? And four beams?

# %%
found_by = {1: None, 4: None}  # of 100 models


# %% tags=["demo"]
@show.when_ready
def how_many_beams():
    for beams in (1, 2, 3):
        print(f"{beams} beam(s): {in_words(beam_search(tree_step, START_ID, END_ID, beams, 8))}")

    def random_step(seed):
        def step(tokens):
            generator = torch.Generator().manual_seed(hash((seed, *tokens.tolist())) % 2**40)
            return torch.randn(5, generator=generator)

        return step

    widths, found = [1, 2, 3, 4, 6, 8, 12], {}
    steps = [random_step(seed) for seed in range(100)]
    best = [beam_search(step, 1, 2, 1000, 5).tolist() for step in steps]
    for beams in widths:
        same = [beam_search(step, 1, 2, beams, 5).tolist() == right for step, right in zip(steps, best, strict=True)]
        found[beams] = sum(same) / len(same)
    drawn, [axes] = show.frames(height=3.0)
    axes.plot(widths, [found[beams] for beams in widths], "o-", color=show.BLUE)
    axes.set(
        xlabel="beams", ylim=(0, 1.05), xticks=widths, title="share of 100 random models whose best sentence is found"
    )
    show.figure(
        drawn, "The share of searches that find the best sentence: it rises steeply to four beams, then levels off."
    )
    print("  ".join(f"{beams}: {share:.0%}" for beams, share in found.items()))
    for beams, guess in found_by.items():
        show.prediction(f"{beams} beam(s) of 100", guess, round(100 * found[beams]))


# %% [markdown]
# The first few beams bring most of it, the next ones little, and each costs as much as the first. (There *is* no promise:
# a beginning that looks hopeless may lead to the best sentence.)
#
# Now the translator. With the trained one, greedy and beam search nearly always agree, since it is nearly always sure. So
# let us ask the **beginner** for sentences that it has never seen, and compare the log-probabilities of what greedy
# decoding and a search with 4 beams find. Each dot is a sentence; on the dotted line both found the same. **Guess first:**
# for how many of fifty sentences does the search find a more probable translation, and for how many a shorter one?

# %%
of_50_sentences = {"more probable": None, "shorter": None}


# %% tags=["demo"]
@show.when_ready
def greedy_and_beam_on_the_translator():
    def score(step, ids):
        logits = torch.stack([step([START_ID, *ids[:position].tolist()]) for position in range(len(ids))])
        return sequence_log_probability(logits, ids).item()

    beam_search(tree_step, START_ID, END_ID, 1, 1)  # waits for your search before the long part begins
    points, shorter, shown = [], 0, 0
    for pair in list(held_out.values())[:50]:
        step = step_for(pair.source, BEGINNER)
        both = greedy(step, START_ID, END_ID, 16), beam_search(step, START_ID, END_ID, 4, 16)
        points.append([score(step, ids) for ids in both])
        shorter += len(both[1]) < len(both[0])
        if points[-1][1] > points[-1][0] + 0.3 and shown < 3:
            shown += 1
            print(f"{pair.source}\n  right   {pair.target}")
            for name, ids, value in zip(("greedy", "4 beams"), both, points[-1], strict=True):
                print(f"  {name:8}{' '.join(german.words[token] for token in ids.tolist())}   ({value:.2f})")
    x, y = zip(*points, strict=True)
    lowest = min(*x, *y) - 0.5
    drawn, [axes] = show.frames(width=4.6, height=4.2)
    axes.plot([lowest, 0], [lowest, 0], color=show.GREY, linestyle=":")
    axes.scatter(x, y, color=show.ORANGE, s=22)
    axes.set(xlabel="greedy decoding", ylabel="4 beams", title="log-probability of what was found")
    show.figure(
        drawn, "Log-probabilities of what greedy decoding and beam search find: most dots lie on or above the diagonal."
    )
    better = sum(beam > one + 1e-4 for one, beam in points)
    worse = sum(beam < one - 1e-4 for one, beam in points)
    print(
        f"{len(points)} sentences: the search found a more probable one for {better}, a less probable one for {worse}"
    )
    print(f"and a shorter one for {shorter}")
    show.prediction("more probable", of_50_sentences["more probable"], better)
    show.prediction("shorter", of_50_sentences["shorter"], shorter)


# %% [markdown]
# More probable in the eyes of the model, that is. Whether the translation is also *better* is another question: a search
# can find only what the model believes. (Where greedy decoding says a word again and again it is caught in a loop: the
# beginner has seen few sentences with that word, and none that repeats it ten times.)
#
# And look at the last line. When the search finds something different, it is often something **shorter**. That is no
# accident.
#
# ## 6. Short sentences win
#
# Every factor of the chain rule is at most 1. Each further word makes a sentence less probable, so a search for the most
# probable sentence likes short ones. With a translator of 2019 an exact search found that for more than half of the test
# sentences the most probable translation of all was the **empty one**, `<e>` at once. (Stahlberg and Byrne, 2019, *On NMT
# Search Errors and Model Errors: Cat Got Your Tongue?* It is really called that.) What saves beam search with few beams
# is that it does not find it.
#
# The common remedy: do not compare the log-probabilities themselves, but divide them first by a **length penalty** that
# grows with the number of words, `<e>` included (Wu et al., 2016, equation 14):
#
# $$\text{score}(e) = \frac{\log P(e \mid f)}{\left(\frac{5 + \text{length}}{6}\right)^{\alpha}}.$$
#
# Log-probabilities are negative; dividing by a larger number brings them nearer to 0, so long sentences gain. With
# $\alpha = 0$ nothing changes. The transformer paper used $\alpha = 0.6$. (This $\alpha$ is just a number; it has nothing
# to do with attention weights.)
#
# ### Exercise 5 · Length penalty
# `decoding.length_penalised` · 2 points (1 for the values, 1 for double precision) · about 8 minutes
#
# Write the formula. One thing to watch: torch divides whole numbers in single precision, so bring the lengths to the
# dtype of the log-probabilities before you calculate with them.
#
# Shapes: `log_probability` is `[...]`, `length` is int64 of the same shape, `alpha` is a float of at least 0, the result is
# `[...]`.


# %% nbgrader={"grade": false, "grade_id": "decoding-length_penalised-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def length_penalised(log_probability, length, alpha):
    """Log-probabilities divided by ((5 + length) / 6)^alpha.

    log_probability: [...]
    length: int64 [...], in words, <e> included
    alpha: float, at least 0
    returns: [...]
    """
    ### BEGIN SOLUTION
    return log_probability / ((5 + length.to(log_probability.dtype)) / 6) ** alpha
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Every further word makes a log-probability more negative, so searches prefer short sentences. Dividing by something
# that grows with the length makes up for it; alpha says how much, from not at all at 0 to nearly the mean at 1. The 5
# and the 6 soften the effect for very short sentences, and a sentence of one word is divided by 1. Scores are negative,
# so dividing by more makes them better, and multiplying would punish length twice. The cast matters in double
# precision: torch divides integers into single-precision floats, and seven digits is all that is left.

# %% nbgrader={"grade": true, "grade_id": "decoding-length_penalised-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("decoding.length_penalised")
### BEGIN HIDDEN TESTS
check("decoding.length_penalised", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# An example: the task is to translate *the old cat slept because the dog danced*. One candidate stops in the middle and
# has log-probability −3.2; the whole translation has −4.0.

# %%
short, whole = "die alte Katze schlief <e>", "die alte Katze schlief , weil der Hund tanzte <e>"
candidates = torch.tensor([-3.2, -4.0])
lengths = torch.tensor([len(short.split()), len(whole.split())])
print("lengths:", lengths, "  mean log-probability of a token:", candidates / lengths)


# %% tags=["demo"]
@show.when_ready
def where_the_whole_sentence_wins():
    alphas = torch.linspace(0, 1, 51)
    scores = torch.stack([length_penalised(candidates, lengths, alpha) for alpha in alphas.tolist()])
    drawn, [axes] = show.frames(height=3.2)
    for column, (sentence, colour) in enumerate(((short, show.ORANGE), (whole, show.BLUE))):
        axes.plot(alphas, scores[:, column], color=colour, label=sentence)
    axes.axvline(0.6, color=show.GREY, linestyle=":")
    axes.annotate("0.6, the paper's", (0.6, -1.7), (-5, 0), textcoords="offset points", fontsize=9.5, ha="right")
    axes.set(xlabel="alpha", title="score of two candidates")
    axes.legend(loc="lower right", frameon=True, framealpha=1, edgecolor="white")
    show.figure(drawn, "Scores of the short and the whole sentence against alpha: the lines cross a little before 0.6.")
    print("alpha = 0.6:", length_penalised(candidates, lengths, 0.6))


# %% [markdown]
# In a search the penalty is applied to sentences that are finished, when they are compared; the beginnings of one step
# all have the same length. Note what it is not: the result is not a probability, and nothing in the model asks for it. It
# repairs a fault in the model with a fault in the comparison, using a number that somebody has tuned.
#
# Watch a search at work. Below, the beginner translates a sentence, and the tree grows step by step: press *Play*, then try
# another number of beams, and find one for which the search finds something better than greedy decoding. What does the
# penalty change? And can you beat the search, by keeping a candidate that it would have dropped?


# %% tags=["demo"]
def likely_beginnings(step, count, branches=4):
    """The most probable beginnings of all, each with the likeliest tokens that may follow."""
    waiting, found = {(): 0.0}, {}
    while waiting and len(found) < count:
        tokens = max(waiting, key=waiting.__getitem__)
        before = waiting.pop(tokens)
        said = torch.log_softmax(step([START_ID, *(german.ids[token] for token in tokens)]), dim=-1).topk(branches)
        found[tokens] = {german.words[i]: math.exp(p) for i, p in zip(said.indices.tolist(), said.values, strict=True)}
        waiting |= {
            (*tokens, token): before + math.log(p) for token, p in found[tokens].items() if p > 0 and token != "<e>"
        }
    return found


in_doubt = "yesterday a clever queen played"
show.searching(likely_beginnings(step_for(in_doubt, BEGINNER), 200), in_doubt)


# %% [markdown]
# ## 7. Rolling the dice
#
# For a translation we want *the best* sentence. But ask a language model to tell a story and you would not want the most
# probable one: it is dull, it repeats itself, and it is the same every time. People don't write the most probable word
# either (Holtzman et al., 2020, figure 2). The alternative is to **sample**: draw each word at random, with the
# probabilities that the model gives.
#
# Here are ten words that might follow *die Katze*:

# %%
WORDS = "tanzte schlief sang sah lief fraß miaute dachte rechnete verdampfte".split()
behind = torch.tensor([0.3, 0.24, 0.16, 0.1, 0.07, 0.05, 0.04, 0.02, 0.015, 0.005])
torch.manual_seed(0)
print(" ".join(WORDS[token] for token in torch.multinomial(behind, 20, replacement=True).tolist()))

# %% [markdown]
# The trouble is in the **tail**. *verdampfte* has one chance in two hundred; in a real vocabulary the tail has tens of
# thousands of words, each of them nearly impossible, but not all of them together. In a text of hundreds of words one of
# them will come up, and then the model has to go on from there. Three remedies follow. You can combine them, and most
# programs do.
#
# ### 7.1 Temperature
#
# Divide the logits by a number $T$ before the softmax:
#
# $$p_i = \frac{\exp(\text{logits}_i / T)}{\sum_j \exp(\text{logits}_j / T)}.$$
#
# With $T = 1$ nothing changes. Below 1 the differences between logits grow, so the probable becomes more probable: near 0
# the best word gets everything, which is greedy decoding. Above 1 differences shrink, and for large $T$ all words are
# equally probable. The name comes from physics, where hot things are in disorder (Ackley, Hinton and Sejnowski, 1985).
#
# You know the opposite operation: lesson 01 divided scores by $\sqrt{d_\text{head}}$ to keep the softmax from becoming
# too sharp. That was a temperature.
#
# ### Exercise 6 · Temperature
# `decoding.with_temperature` · 2 points (1 for the values, 1 near temperature 0) · about 6 minutes
#
# From logits to probabilities. With a temperature near 0, such as 0.01, the quotients are enormous: what you compute on
# the way must not overflow, nor may all of it become 0.
#
# Shapes: `logits` is `[..., vocab_size]`, `temperature` is a float of at least 0.01, the result has the shape of `logits`.


# %% nbgrader={"grade": false, "grade_id": "decoding-with_temperature-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def with_temperature(logits, temperature):
    """Probabilities at a temperature: softmax(logits / temperature).

    logits: [..., vocab_size]
    temperature: float, at least 0.01
    returns: [..., vocab_size]
    """
    ### BEGIN SOLUTION
    return torch.softmax(logits / temperature, dim=-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Dividing logits by T raises every probability to the power 1 / T and normalises again: below 1 the best words gain,
# above 1 all come closer together. Dividing probabilities instead does nothing at all, because the normalisation
# cancels it. Near 0 the quotients are enormous, and a plain `exp` would overflow while raising small probabilities to
# the power 100 would underflow to 0 everywhere; the softmax of the quotients subtracts the largest first and does
# neither. A temperature of 1 changes nothing, which is the quickest test.

# %% nbgrader={"grade": true, "grade_id": "decoding-with_temperature-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("decoding.with_temperature")
### BEGIN HIDDEN TESTS
check("decoding.with_temperature", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 7.2 Only the k most probable words
#
# Temperature makes the tail thinner, but leaves it there. **Top-k** cuts it off: keep the $k$ most probable words, give
# the others probability 0, and divide by the sum so that what is left sums to 1 again (Fan et al., 2018; GPT-2's stories
# were written with $k = 40$).
#
# ### Exercise 7 · Top-k
# `decoding.top_k` · 3 points (2 for the values, 1 for a k beyond the vocabulary) · about 10 minutes
#
# From probabilities to probabilities. The words that stay keep their proportions. Where `k` is larger than the vocabulary,
# all words stay.
#
# Shapes: `probabilities` is `[..., vocab_size]`, `k` is an int of at least 1, the result has the shape of
# `probabilities`. You need not worry about tokens that are equally probable: there are none.


# %% nbgrader={"grade": false, "grade_id": "decoding-top_k-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def top_k(probabilities, k):
    """Only the k most probable tokens, divided by their sum; 0 for the others.

    probabilities: [..., vocab_size]
    k: int, at least 1
    returns: [..., vocab_size]
    """
    ### BEGIN SOLUTION
    values, positions = torch.topk(probabilities, min(k, probabilities.shape[-1]), dim=-1)
    return torch.zeros_like(probabilities).scatter(-1, positions, values / values.sum(dim=-1, keepdim=True))
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A language model spreads a little probability over thousands of words that make no sense, and sampling meets one of
# them sooner or later. Top-k cuts the tail off and renormalises what is left, so that the words that stay keep their
# proportions. A softmax of the remaining probabilities would be the usual mistake: it makes them nearly equal, and
# turns the zeros back into something. The result stands in the order of the vocabulary, since what draws from it
# needs ids and not ranks. A k above the vocabulary means that nothing is cut.

# %% nbgrader={"grade": true, "grade_id": "decoding-top_k-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoding.top_k")
### BEGIN HIDDEN TESTS
check("decoding.top_k", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 7.3 The nucleus
#
# What is a good $k$? After *die Katze* hundreds of verbs are fine; after *Sehr geehrte*, with which German letters begin,
# hardly more than two words are. A fixed $k$ cuts off good words in the first case, and lets nonsense in in the second.
#
# **Nucleus** sampling (top-p) fixes the mass instead of the number: sort the words by probability, and keep the
# **fewest** whose probabilities sum to at least $p$ (Holtzman et al., 2020). Where the model is sure the nucleus is
# small; where it is not, the nucleus is large.
#
# In our example with $p = 0.75$: 0.3, then 0.54, then 0.70, then 0.80. The fourth word crosses the line, and it belongs
# to the nucleus, because without it the mass would be too small.
#
# ### Exercise 8 · Nucleus
# `decoding.nucleus` · 3 points (2 for the values, 1 for p reached exactly, or not quite) · about 18 minutes
#
# Keep the nucleus, divide by its sum. Its words may stand anywhere in the vocabulary. Where words sum to exactly $p$ they
# are enough: no more are kept. With $p = 1$ all words stay, even if their sum, by rounding, does not quite reach 1. You
# need not worry about words that are equally probable: there are none.
#
# Shapes: `probabilities` is `[..., vocab_size]`, `p` is a float above 0 and at most 1, the result has the shape of
# `probabilities`.


# %% nbgrader={"grade": false, "grade_id": "decoding-nucleus-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def nucleus(probabilities, p):
    """Only the fewest most probable tokens of mass p, divided by their sum; 0 for the others.

    probabilities: [..., vocab_size]
    p: float, above 0 and at most 1
    returns: [..., vocab_size]
    """
    ### BEGIN SOLUTION
    ordered, positions = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    values = ordered.masked_fill(before >= p, 0.0) if p < 1 else ordered
    return torch.zeros_like(probabilities).scatter(-1, positions, values / values.sum(dim=-1, keepdim=True))
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The nucleus is the smallest set of best words whose mass reaches p: wide where the model hesitates, and a single word
# where it is sure. A fixed k can be neither. Asking for the mass before a word, and not up to it, settles both edges at
# once: the best word is always in, and the one that crosses p is included, so that the set really reaches p.
#
# With p = 1 all words stay, and that is treated by itself, because the cumulative sum of thousands of floats may reach
# 1 before the last word. What is kept is divided by its own sum and not by p, which it usually exceeds.

# %% nbgrader={"grade": true, "grade_id": "decoding-nucleus-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoding.nucleus")
### BEGIN HIDDEN TESTS
check("decoding.nucleus", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Set all three yourself. The sliders work in the usual order: temperature first, then top-k, then the nucleus of what is
# left. Raise the temperature to 2 and see how many words the nucleus of 0.9 needs now; then find a setting under which
# *verdampfte* never comes up, and *miaute* still does.

# %% tags=["demo"]
show.sampling(WORDS, behind)

# %% [markdown]
# All of them on the same ten words. Bars are probabilities; the dots are what came up in 2000 draws.


# %% tags=["demo"]
@show.when_ready
def one_distribution_five_ways():
    distributions = {
        "as it is": behind,
        "temperature 0.5": with_temperature(behind.log(), 0.5),
        "temperature 2": with_temperature(behind.log(), 2.0),
        "top-k, k = 3": top_k(behind, 3),
        "nucleus, p = 0.75": nucleus(behind, 0.75),
    }
    torch.manual_seed(0)
    drawn = {
        name: torch.multinomial(p, 2000, replacement=True).bincount(minlength=len(WORDS)) / 2000
        for name, p in distributions.items()
    }
    show.distributions(
        WORDS,
        distributions,
        drawn=drawn,
        alt="Ten verbs in five distributions: sharper at temperature 0.5, flatter at 2, three left by top-k, four by the nucleus.",
    )


# %% [markdown]
# Temperature bends the whole distribution; the other two cut it off and leave what remains in proportion.
#
# What happens to whole **sentences**? We draw a thousand at each of three temperatures from the tree of section 4, word by
# word, and count. The bars are computed by the chain rule from the probabilities at each step. **Guess first:** *die Katze
# tanzte* is the most probable sentence of the tree. Which comes up most often at a temperature of 0.1?

# %%
most_often_when_cold = ""  # a sentence


# %% tags=["demo"]
@show.when_ready
def sentences_by_chance():
    def draw(temperature):
        tokens = [START_ID]
        while tokens[-1] != END_ID:
            tokens.append(int(torch.multinomial(with_temperature(tree_step(tokens), temperature), 1)))
        return in_words(tokens[1:])

    def probability(sentence, temperature):
        ids = [START_ID, *(VOCABULARY.index(token) for token in sentence.split()), END_ID]
        steps = [
            with_temperature(tree_step(ids[:position]), temperature)[ids[position]] for position in range(1, len(ids))
        ]
        return torch.stack(steps).prod()

    sentences = [*LETTERS.values(), "die Katze tanzt", "die Katze tanzte dort", "eine Katze tanzte dort"]
    exact, drawn = {}, {}
    torch.manual_seed(0)
    for temperature in (1.0, 0.5, 0.1):
        name = f"temperature {temperature:g}"
        exact[name] = torch.stack([probability(sentence, temperature) for sentence in sentences])
        texts = [draw(temperature) for _ in range(1000)]
        drawn[name] = torch.tensor([texts.count(sentence) for sentence in sentences]) / len(texts)
    show.prediction("most often", most_often_when_cold, sentences[int(drawn["temperature 0.1"].argmax())])
    show.distributions(
        sentences,
        exact,
        drawn=drawn,
        alt="Nine sentences at three temperatures: the shares drawn follow the chain rule; at 0.1 it is nearly always B.",
    )


# %% [markdown]
# At temperature 1 every sentence comes up as often as its probability says: **sampling word by word is sampling whole
# sentences**. That is the chain rule once more, and no search is needed for it.
#
# At lower temperatures, look at which sentence wins. Not *die Katze tanzte*, the most probable one, but *die Katze hat
# getanzt*: temperature sharpens each **step**, and near 0 what you get is greedy decoding, with all its faults.
#
# So which way is right? Where there is one right answer, more or less (translation, a transcript, a summary of facts),
# search. Where many answers are good and you want one of them (a story, a conversation), sample, with a nucleus or a
# temperature a little below 1.
#
# ## 8. What has been read need not be read again
#
# Back to S4 and test time. It says there that since words must be written one by one, the transformer *gains no speed-up
# over a recurrent network* at test time. In training it does gain, since all positions are computed at once.
#
# Is that so? One thing is certain: $n$ words take $n$ steps in a row, for both. No trick in this section changes that. But
# how much work is a **step**?
#
# Look at `step_for` again. To get the 100th word the decoder reads 99 words, projects all of them to queries, keys and
# values, in every block, and sends all of them through the feed-forward networks. And then we throw away everything but
# the last row. At the next step it reads the same 99 words again, plus one more.

# %%
n = 100
print("tokens read in order to write", n, "tokens, all so far at each step:", sum(range(1, n + 1)))

# %% [markdown]
# What could have changed for the 99 words since the last step? **Nothing.** The mask is causal: they cannot see the new
# word. Their vectors, their keys and their values are the very same numbers as before, in every block.
#
# And what does the new word need of them? Its query meets their **keys**, and the weights average their **values**.
# Nothing else. So keep these two in a **key-value cache**: at each step project only the new word, append its key and its
# value, and attend from its query to all of them. (Shazeer, 2019, spells this out.) The keys and values of
# cross-attention are simpler still: they come from the source, which never changes, so they are computed once.
#
# ### Exercise 9 · One step with a cache
# `decoding.cached_attention` · 3 points · about 15 minutes
#
# Self-attention of the newest word, with the keys and values of all words before it. It may attend to itself. You need no
# mask: nothing in the cache lies in the future. Return the output, and the cache with the new word's key and value
# **after** the others. Torch's attention, `F.scaled_dot_product_attention`, is welcome, and so is the course's,
# `scaled_dot_product_attention` of `course_lib.attention`, which the first cell imports: both take `(q, k, v)`.
#
# Shapes: `x` is `[..., 1, d_model]`; `keys` and `values` are `[..., tokens, d_head]`, with `tokens` 0 at the first step;
# the projections are `[d_model, d_head]`, applied as `x @ W_q`. The result is a tuple of `[..., 1, d_head]` and two of
# `[..., tokens + 1, d_head]`. Leave the tensors that come in as they are.


# %% nbgrader={"grade": false, "grade_id": "decoding-cached_attention-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cached_attention(x, keys, values, W_q, W_k, W_v):
    """Attention from the newest token to itself and all tokens before it, whose keys and values are in the cache.

    x: [..., 1, d_model], the newest token
    keys, values: [..., tokens, d_head], of the tokens before it
    W_q, W_k, W_v: [d_model, d_head]
    returns: out [..., 1, d_head], and keys and values [..., tokens + 1, d_head]
    """
    ### BEGIN SOLUTION
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    return F.scaled_dot_product_attention(x @ W_q, keys, values), keys, values
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Under a causal mask a word's key and value depend on nothing that comes later, so they can be computed once and kept.
# A step then costs one row of attention instead of all of them, and writing n words costs n² instead of n³ dot
# products. The new word joins the cache before it attends, since it sees itself; attending first would leave the very
# first word with nothing to look at. No mask is needed, as the cache holds only the past. `torch.cat` makes new tensors
# and leaves the caller's cache alone, which beam search relies on: several beams go on from the same one.

# %% nbgrader={"grade": true, "grade_id": "decoding-cached_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoding.cached_attention")
### BEGIN HIDDEN TESTS
check("decoding.cached_attention", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The claim is a strong one: *exactly the same numbers*, not nearly the same. Two tests. First your step, five times in a
# row, beside causal self-attention over all five words at once. Then a whole model: the trained translator writes with
# the library's cache and without, and we compare all its logits.


# %% tags=["demo"]
@show.when_ready
def cached_equals_uncached():
    torch.manual_seed(0)
    x, projections = torch.randn(5, 8), [torch.randn(8, 4) for _ in range(3)]
    keys = values = torch.empty(0, 4)
    rows = []
    for position in range(5):
        out, keys, values = cached_attention(x[position : position + 1], keys, values, *projections)
        rows.append(out)
    q, k, v = (x @ W for W in projections)
    all_at_once = scaled_dot_product_attention(q, k, v, torch.ones(5, 5, dtype=torch.bool).tril())
    difference = (torch.cat(rows) - all_at_once).abs().max().item()
    print(f"one attention, largest difference: {difference:.1e}")

    source = torch.tensor([english.encode("yesterday the cat danced")], device=device)
    said = {}
    with torch.inference_mode():
        for use_cache in (True, False):
            text = begin_decoding(translator(), source, 10, use_cache=use_cache)
            logits = [text.prefill()]
            while len(logits) < 10:
                logits.append(text.step(logits[-1].argmax(dim=-1)))
            said[use_cache] = torch.stack(logits)
    print(f"the translator, largest difference: {(said[True] - said[False]).abs().max().item():.1e}")


# %% [markdown]
# Equal up to rounding. (A sum in another order is rounded differently; that is all.) Now let us measure: how long does
# **the next word** take, when there are $n$ words already? A GPT of four blocks without a cache, the same with a cache,
# and a recurrent network of four layers of the same width (torch's `nn.GRU`), which needs nothing of the past but its
# state. **Guess first:** after 384 words, how many times as long does the next one take without the cache?

# %%
times_as_long_without = None  # a number

# %% tags=["demo"]
from course_lib.ground.timing import milliseconds

WIDTH, LAYERS, LONGEST = 256, 4, 384
torch.manual_seed(0)
gpt = GPT(GPTConfig(500, LONGEST + 8, WIDTH, 4, LAYERS, 4 * WIDTH)).to(device).eval()
recurrent = nn.GRU(WIDTH, WIDTH, LAYERS, batch_first=True).to(device).eval()
ids = torch.randint(500, (1, LONGEST + 8), device=device)


at = [1, 32, 64, 128, 192, 256, 320, 384]
without, with_cache, network = [], [], []
with torch.inference_mode():
    for tokens in at:
        without.append(milliseconds(lambda tokens=tokens: gpt(ids[:, :tokens])))
        cache = gpt.kv_cache(1, LONGEST + 8)
        gpt(ids[:, :tokens], kv_cache=cache)
        with_cache.append(
            milliseconds(lambda cache=cache: gpt(ids[:, cache.length : cache.length + 1], kv_cache=cache))
        )
        _states, state = recurrent(torch.randn(1, tokens, WIDTH, device=device))
        network.append(milliseconds(lambda state=state: recurrent(torch.randn(1, 1, WIDTH, device=device), state)))
    at_once = milliseconds(lambda: gpt(ids[:, :LONGEST]))

drawn, [axes] = show.frames(height=3.6)
axes.plot(at, without, "o-", color=show.ORANGE, label="GPT, all tokens again")
axes.plot(at, with_cache, "o-", color=show.BLUE, label="GPT, with a cache")
axes.plot(at, network, "o-", color=show.GREEN, label="GRU")
axes.set(xlabel="tokens so far", ylim=(0, None), title=f"milliseconds for the next token, on this {device.upper()}")
axes.legend(loc="upper left")
show.figure(
    drawn,
    "Time for the next token against tokens so far: rising without a cache, nearly flat with one, flat for a GRU.",
)
print(f"reading {LONGEST} tokens at once, as in training: {at_once:.0f} ms")
print(
    f"the last of them alone, with a cache {with_cache[-1]:.1f} ms, without {without[-1]:.1f} ms; of a GRU {network[-1]:.1f} ms"
)
show.prediction("without the cache, times as long", times_as_long_without, without[-1] / with_cache[-1])
numbers = 2 * LAYERS * LONGEST * WIDTH
print(f"the cache then holds {numbers:,} numbers; the state of the GRU {LAYERS * WIDTH:,}")

# %% [markdown]
# Other programs on the same computer make single points jump, so look at the right ends of the lines: without the cache the
# time has grown several times over, with it hardly. So what about S4's sentence?
#
# **What the cache changes: the work of a step.** Without it a step reads all words again, and the time for a word grows with
# every word that is already there. With it a step reads one word. What remains of the growth is the attention itself, one
# query against ever more keys, and that is little at these lengths.
#
# **What it does not change: the number of steps.** Word 100 still has to wait for word 99. Reading all words at once, as
# in training, takes far less time than writing them one by one. In this sense S4 is right: at test time you cannot have
# the parallelism of training. And a recurrent network needs no cache at all: its step is the same small work at any
# length, from a state that never grows, while the cache grows with every word. It is the transformer that has to be
# *rescued* from a disadvantage here.
#
# (On a GPU both lines of the GPT may look flat: it can project a few hundred words in about the time it takes to start the
# computation. There the cache pays for longer texts, larger models and larger batches, and its own size becomes the
# problem: at every step all of it has to be fetched from memory. That was Shazeer's point.)
#
# ## 9. All words at once?
#
# S4 promises, for later, ways to write the whole sentence at once. That is **non-autoregressive** decoding: no word waits
# for another, the decoder names all words of the sentence in one step (Gu et al., 2018, *Non-Autoregressive Neural
# Machine Translation*). One step instead of $n$: there *is* the speed-up.
#
# What does it cost? Look at the chain rule of section 3 and take all the $e_1, \dots, e_{t-1}$ out of it:
#
# $$P(e \mid f) \approx \prod_{t=1}^{n} P(e_t \mid f).$$
#
# Every position chooses by itself, without knowing what its neighbours choose. Our tree can show what comes of that. From it
# we compute how probable each word is at each **position**, whatever stands elsewhere, and let every position draw its own.
# **Guess first:** of a thousand texts written in this way, how many are sentences of the tree?

# %%
sentences_of_1000 = None  # a number


# %% tags=["demo"]
def sentences(tokens=(), probability=1.0):
    """Every sentence of the tree that begins with these tokens, <e> included, with its probability."""
    if tokens[-1:] == ("<e>",):
        yield tokens, probability
        return
    for token, share in TREE.get(tokens, {"<e>": 1.0}).items():
        yield from sentences((*tokens, token), probability * share)


possible = dict(sentences())
longest = max(map(len, possible))
positions = [{} for _ in range(longest)]  # at each position the tokens with their probabilities
for sentence, probability in possible.items():
    for position in range(longest):
        token = sentence[position] if position < len(sentence) else "<e>"
        positions[position][token] = positions[position].get(token, 0.0) + probability

chance = random.Random(0)
texts = []
for _ in range(1000):
    drawn_tokens = (*(chance.choices(list(position), list(position.values()))[0] for position in positions), "<e>")
    texts.append(drawn_tokens[: drawn_tokens.index("<e>") + 1])
for text in texts[:7]:
    print(f"{'' if text in possible else 'not a sentence:':16}{' '.join(text)}")
print(f"{sum(text in possible for text in texts)} of {len(texts)} are sentences of the tree")
show.prediction("sentences of 1000", sentences_of_1000, sum(text in possible for text in texts))

# %% [markdown]
# *tanzte getanzt*, *hat* without a participle: each word is likely in its place, but they do not belong together. Gu et
# al. call it the **multimodality problem**: where there are several good translations, positions that cannot agree on one
# mix them. Taking the most probable word at every position is no way out, because nothing makes those words belong together
# either. The problem vanishes only where there is a single good translation.
#
# The remedies give back some of the speed: train on data in which each sentence has only one translation (Gu et al. let a
# teacher make it), or write in a few rounds, each of which revises the least certain words of the one before
# (Ghazvininejad et al., 2019, *Mask-Predict*). Another way keeps the left-to-right model and exactly its distribution,
# and lets a small model run ahead; the large one then checks its words all at once (Leviathan et al., 2023, *speculative
# decoding*). Checking is reading, and reading is parallel.
#
# So non-autoregressive decoding stands at one end, with one step and no agreement, autoregressive decoding at the other,
# with $n$ steps and full agreement, and much current work lies between.
#
# ## Stretch · A small model runs ahead
#
# Ungraded, for a free evening: speculative decoding, in its greedy form. Let the beginner of section 5 write four words
# ahead. Let the trained translator read all four at once (one call), keep them up to the first one that it would not have
# written itself, and put its own word there. The result must be word for word what `greedy` gives with the translator alone;
# test that first. Then count: how many readings of the large model does a sentence take now, how many before? With which
# drafts does it pay?
#
# ## Glossary
#
# - **Teacher forcing**: in training the decoder reads the right words before each position, not its own.
# - **Step function**: from the words so far to the logits of the next word.
# - **Autoregressive**: each word is predicted from those before it.
# - **Greedy decoding**: write the most probable word at every step.
# - **Chain rule**: the probability of a sentence is the product of its words' probabilities, each given those before it.
# - **Log-probability**: the logarithm of a probability; logarithms add up where probabilities multiply.
# - **Exposure bias**: in training a model never reads its own mistakes, at test time it does.
# - **Beam search**: keep the few most probable beginnings at every step.
# - **Search error**: the search misses the sentence that the model thinks best.
# - **Length penalty**: what log-probabilities are divided by, so that long sentences can compete.
# - **Sampling**: draw each word at random, with the model's probabilities.
# - **Temperature**: what logits are divided by before the softmax; low is sharp, high is flat.
# - **Top-k**: sample from the $k$ most probable words only.
# - **Nucleus (top-p)**: sample from the fewest most probable words that have mass $p$.
# - **Key-value cache**: the keys and values of all words so far, kept so that each word is projected once.
# - **Non-autoregressive decoding**: all words are named at once, none given another.
# - **Multimodality problem**: words that are chosen independently mix several good sentences into a bad one.
#
# ## What you have now
#
# Everything that lies between a trained model and a text. The library has your functions for whole batches, with the
# cache inside: `greedy_decode` in `course_lib.decoding.greedy`, `beam_search` in `course_lib.decoding.beam`, `sample` in
# `course_lib.decoding.sampling`. Open them; you will find your way around.
#
# One thing came along through the whole lesson without being needed for decoding: the English sentence. Take the encoder
# away, and what is left predicts the next word from those before it. That is a language model, and the next lesson builds
# one.
