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
# A cat that sees a mouse takes one of many possible steps, then looks again. A decoder writes a sentence the same way:
# it assigns a probability to every possible next word, picks one, and repeats.
#
# The model only answers *what comes next?* How its answers become a sentence is up to us: always take the most probable
# word, follow several beginnings side by side, or roll the dice. You will write all three, find out when to use each,
# and make them fast.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | greedy decoding | 3 | 15 |
# | 2 | a prediction: what does a search find? | 1 | 10 |
# | 3 | beam search | 6 | 35 |
# | 4 | the translation that agrees with the others | 4 | 15 |
# | 5 | top-k | 3 | 10 |
# | 6 | the nucleus | 3 | 18 |
# | 7 | new tokens and a key-value cache | 4 | 20 |
# | 8 | a small model runs ahead | 4 | 20 |
# | 9 | in your own words | 2 | 12 |
#
# Stuck? Each call to `hint("decoding.greedy")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.
#
# Decoding treats every model as a **step function**: the tokens so far go in, and the logits of the next token come
# out. (A **token** is the unit that a model reads and writes: here a word, `<s>` or `<e>`.)

# %% [markdown] tags=["fine-print"]
# Results have the same dtype as the inputs, and gradients are not compared. Where points are split, as in *2 for the
# values, 1 for …*, you must earn the points for the values before the others count.

# %%
import functools
import math
import random
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.attention import scaled_dot_product_attention
from course_lib.checking import case, check, hint, progress, solution
from course_lib.hooks import record_attention
from course_lib.mine import answer
from course_lib.models import GPT, GPTConfig
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
# Training spoils a decoder. To learn *the cat danced* → *die Katze tanzte*, the decoder reads the right German words,
# shifted by one, and predicts the next one at every position. Whatever nonsense it predicts for word 2, it gets the
# right beginning again for word 3. That is **teacher forcing**, and thanks to the causal mask all positions are trained
# at once.
#
# At test time the right words aren't available. The model predicts one word, reads it as if it were given, predicts the
# next one, and so on: this is **autoregressive** decoding.

# %% [markdown] tags=["slides"]
# S4 says it in one line: at test time there is no translation to mask, so words are predicted one by one.

# %% [markdown]
# We need a translator to watch. It learns clauses from the course's toy grammar, some starting with *yesterday*.
# Clauses built like *the cat danced* are held out, along with a tenth of the others: the model never sees them in
# training.

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

models = {}  # by how many steps they were trained
BEGINNER, TRAINED = 160, 500

# %% [markdown]
# The translator is yours: it uses your attention, norms and blocks from lessons 04 and 05, wherever they have passed
# their checks. The output below the cell says which parts are borrowed from the course.

# %%
sinusoidal_encoding = answer("positions.sinusoidal_encoding")
MultiHeadAttention, LayerNorm = answer("heads_and_blocks.multi_head_attention"), answer("heads_and_blocks.layer_norm")
AddAndNorm, FeedForward = answer("heads_and_blocks.add_and_norm"), answer("heads_and_blocks.feed_forward")
EncoderBlock, DecoderBlock = answer("heads_and_blocks.encoder_block"), answer("encoder_decoder.decoder_block")
encode_and_decode = answer("encoder_decoder.encode_and_decode")
D_MODEL, HEADS = 64, 2


class Translator(nn.Module):
    """A transformer of one encoder block and one decoder block."""

    def __init__(self):
        super().__init__()

        def attention_and_norm():
            return MultiHeadAttention(D_MODEL, HEADS), AddAndNorm(LayerNorm(D_MODEL), nn.Identity())

        def network_and_norm():
            return FeedForward(D_MODEL, 4 * D_MODEL, F.relu), AddAndNorm(LayerNorm(D_MODEL), nn.Identity())

        self.source_embedding, self.target_embedding = (
            nn.Embedding(len(words), D_MODEL) for words in (english, german)
        )
        self.encoder = nn.ModuleList([EncoderBlock(*attention_and_norm(), *network_and_norm())])
        self.decoder = nn.ModuleList([DecoderBlock(*attention_and_norm(), *attention_and_norm(), *network_and_norm())])
        self.output = nn.Linear(D_MODEL, len(german))
        for embedding in (self.source_embedding, self.target_embedding):
            nn.init.normal_(embedding.weight, std=D_MODEL**-0.5)

    def embed(self, ids, embedding):
        positions = sinusoidal_encoding(ids.shape[1], D_MODEL).to(ids.device)
        return embedding(ids) * math.sqrt(D_MODEL) + positions

    def forward(self, source, target):
        """source: ids [batch, source]; target: ids [batch, target], <s> first; returns logits."""
        return encode_and_decode(
            source,
            target,
            lambda ids: self.embed(ids, self.source_embedding),
            self.encoder,
            lambda ids: self.embed(ids, self.target_embedding),
            self.decoder,
            self.output,
        )


# %% [markdown]
# Now we train two translators. The first one stops after a third of the steps: this **beginner** is useful when we need
# a model that is often unsure.
#
# **Guess first:** what is each translator's loss at its last step? A uniform guess over all German tokens costs a
# little over 5 nats. Training uses label smoothing of 0.1, as in lesson 05, so even a perfect model has a loss above 0:
# here about 0.8. The training cell tells you how close you were.

# %%
losses_in_the_end = {"beginner": None, "trained": None}  # in nats

# %% tags=["demo"]
torch.set_num_threads(1)  # matrices this small don't benefit from a second one
batches = translation_data(list(pairs.values()), english, german, max_tokens=1000)
for steps in (BEGINNER, TRAINED):
    torch.manual_seed(0)
    models[steps] = Translator()
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
# Here is a translator's step function for one English sentence. The decoder reads the German tokens so far, and we keep
# only the logits at the **last** token.


# %%
def translator(trained_for=TRAINED):
    """The translator that was trained for this many steps; before that, one that guesses."""
    if trained_for not in models:
        print("Not trained yet, so what follows is guesswork: run the cell of section 1 that trains it.")
        models[trained_for] = Translator().to(device).eval()
    return models[trained_for]


def step_for(sentence, trained_for=TRAINED):
    """The step function that translates this sentence: ids so far, <s> first -> logits of the next token."""
    source = torch.tensor([english.encode(sentence)], device=device)

    @functools.cache  # reads each prefix only once
    def said(tokens):
        with torch.no_grad():
            return translator(trained_for)(source, torch.tensor([tokens], device=device))[0, -1].cpu()

    def step(tokens):
        return said(tuple(torch.as_tensor(tokens).tolist())).clone()

    return step


# %% [markdown]
# ## 2. One word after the other
#
# The simplest choice is **greedy decoding**: take the most probable token at every step. The decoder reads `<s>` and
# predicts *die*. It reads `<s>` *die* and predicts *Katze*. Then come *tanzte* and `<e>`, and the sentence is complete.
#
# `<e>` is a token like any other. A model may never produce it, so every decoder also needs a limit.

# %% [markdown] tags=["slides"]
# S2 goes through the same four steps, but writes *tantze* instead of *tanzte*.

# %% [markdown]
# ### Exercise 1 · Greedy decoding
# `decoding.greedy` · 3 points (2 for the values, 1 for the limit) · about 15 minutes
#
# Write the loop. It takes a step function, the ids of `<s>` and `<e>`, and the maximum number of new tokens (at least
# 1). Don't call the model again after `<e>`. Return the new tokens: without `<s>`, and with `<e>` if the model produced
# it.
#
# Shapes: `step` takes the ids so far, int64 `[tokens]`, beginning with `start_id`, and returns logits `[vocab_size]`. The
# result is int64 `[new]`.

# %% [markdown] tags=["fine-print"]
# `step` also takes a plain list of ids. A token that cannot come next has a logit of −∞. The ids of `<s>` and `<e>`
# always differ from each other, but they may not be the ones in this lesson. `<e>` counts toward `max_new_tokens`, but
# `<s>` does not.


# %% nbgrader={"grade": false, "grade_id": "decoding-greedy-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def greedy(step, start_id, end_id, max_new_tokens):
    """Write the most probable token at every step.

    step: int64 [tokens] -> logits [vocab_size] of the next token
    start_id, end_id: ids of <s> and <e>
    max_new_tokens: int, at least 1, the largest number of tokens to write, <e> included
    returns: int64 [new], without <s>, with <e> where it was reached
    """
    ### BEGIN SOLUTION
    tokens = [start_id]
    while len(tokens) <= max_new_tokens and tokens[-1] != end_id:
        tokens.append(int(step(torch.tensor(tokens)).argmax()))
    return torch.tensor(tokens[1:])
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The softmax preserves the order of the logits, so their `argmax` is enough. Pass all tokens so far each time, because
# a step function doesn't remember anything between calls.
#
# Loops usually go wrong at the first or last step. `<e>` is part of the result and counts toward the limit. `<s>` was
# given, not generated: leave it out and don't count it, or every sentence that reaches the limit is one token short.

# %% nbgrader={"grade": true, "grade_id": "decoding-greedy-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoding.greedy")
### BEGIN HIDDEN TESTS
check("decoding.greedy", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now watch your loop translate. For every token, the picture shows what the decoder had read, where its cross-attention
# looked (the mean of its two heads), and which German tokens it found likely.


# %% tags=["demo"]
def watched(sentence, written):
    """What the trained decoder looks at and predicts while reading its own output: alpha, and probabilities.

    One pass over the finished sentence gives them all: under the causal mask, the output at each position is the same
    as when that position was the last.
    """
    model = translator()
    read = torch.tensor([[START_ID, *written[:-1].tolist()]], device=device)
    source = torch.tensor([english.encode(sentence)], device=device)
    with torch.no_grad(), record_attention(nn.ModuleList([model.decoder[0].cross_attention])) as weights:
        said = torch.softmax(model(source, read), dim=-1)
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
        alt="Four steps: <s> attends to the, and die comes next; die attends to cat, Katze to danced; last comes <e>.",
    )


# %% [markdown]
# The attention moves from left to right, one English word for each German one. Does it always? German puts the verb
# second, so after *gestern* it comes before the subject.


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
# To write *tanzte* after *gestern*, the decoder jumps ahead to *danced*, then comes back for *the* and *cat*. The
# training data never says which word translates which. The model learned where to look because that lowers the loss.
#
# **What if the model makes a mistake?** The wrong word becomes part of its input, and it has never seen a wrong
# beginning in training. This is **exposure bias** (Ranzato et al., 2016). Let's put a wrong first word in its mouth.


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
# Sometimes the model recovers, sometimes it doesn't. Either way, it can never take the wrong word back. That is the
# price of greed.
#
# ## 3. How probable is a sentence?
#
# To compare sentences, we need one number for a whole sentence. The **chain rule** provides it: the probability of a
# German sentence $e = e_1, \dots, e_n$ given an English sentence $f$ is
#
# $$P(e \mid f) = \prod_{t=1}^{n} P(e_t \mid e_1, \dots, e_{t-1}, f).$$
#
# This is exact. Every factor comes from one step of the model, including the one for `<e>`: a sentence must also *end*.

# %% [markdown] tags=["slides"]
# S1 and S4 show the same formula; on S4, $f$ is French and $e$ is English.

# %% [markdown]
# Suppose that the four steps of *die Katze tanzte* `<e>` have probabilities 0.6, 0.9, 0.4 and 0.9:

# %%
factors = torch.tensor([0.6, 0.9, 0.4, 0.9])
print("product of the probabilities:", factors.prod())
print("sum of their logarithms:     ", factors.log().sum(), "and exp of that:", factors.log().sum().exp())
print("0.3 to the power 90:         ", torch.tensor(0.3) ** 90, "   90 · log 0.3:", 90 * torch.tensor(0.3).log())

# %% [markdown]
# The last line shows why programs don't multiply probabilities. The probability of 90 words at 0.3 each is too small
# for a float: it underflows to 0, and all long sentences look alike. So we add **log-probabilities**:
#
# $$\log P(e \mid f) = \sum_{t=1}^{n} \log P(e_t \mid e_1, \dots, e_{t-1}, f).$$
#
# Negated and divided by $n$, this is the negative log-likelihood from lesson 05. There the $e_t$ are the right words;
# here they can be any words. `F.cross_entropy` computes the sum:


# %%
def log_probability(step, ids):
    """ln P of a whole sentence, <e> included: the chain rule, step by step."""
    logits = torch.stack([step([START_ID, *ids[:position]]) for position in range(len(ids))])
    return -F.cross_entropy(logits, torch.tensor(ids), reduction="sum").item()


# %% [markdown]
# Let the translator judge some translations of *the cat danced*, good and bad: *die Katze tanzte*, *eine Katze tanzte*,
# *die Katze schlief*, *der Katze tanzte* and *Katze die tanzte*. **Guess first:** which one comes second, and which one
# last?

# %%
second_best, worst_of_five = "", ""  # two of the five


# %% tags=["demo"]
def judged_by_the_model():
    german_sentences = [
        "die Katze tanzte",
        "eine Katze tanzte",
        "die Katze schlief",
        "der Katze tanzte",
        "Katze die tanzte",
    ]
    step = step_for("the cat danced")
    found = [log_probability(step, [*german.encode(sentence), END_ID]) for sentence in german_sentences]
    ranking = sorted(zip(german_sentences, found, strict=True), key=lambda pair: -pair[1])
    for sentence, value in ranking:
        print(f"{value:8.2f} nats   {sentence}")
    show.prediction("second", second_best, ranking[1][0])
    show.prediction("last", worst_of_five, ranking[-1][0])


judged_by_the_model()

# %% [markdown]
# The order makes sense: the right translation comes first, and word salad last. But is the sentence that greedy
# decoding writes always the most probable one?
#
# ## 4. Where greedy decoding loses
#
# Take a model small enough to fit on the page. It translates *the cat danced*, isn't sure about the article, and can't
# decide between *die Katze tanzte* and the perfect tense *die Katze hat getanzt*. Here are all its sentences, with the
# probabilities at every branch:

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
}  # from the tokens so far to what may follow; if not listed, <e> follows
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
# Greedy decoding keeps one beginning: it is a search with one beam. A search with **several beams** keeps the 2 (or 3,
# or $k$) most probable *beginnings* of each length, and at the end returns the most probable sentence it has kept.
#
# ### Exercise 2 · Predict first
# `decoding.sentence_found` · 1 point · about 10 minutes
#
# Which sentence does the search return with 1 beam, with 2, and with 3? Work through the tree with pencil and paper:
# after each word, multiply the probabilities, compare all beginnings of the same length, and keep the best ones. (`<e>`
# counts as a word; a finished sentence keeps its probability.) For each number of beams, return the letter of the
# sentence. As your reason, also return the probabilities of the beginnings that are kept after the third word, the best
# one first.
#
# Shapes: `beams` is an int: 1, 2 or 3. The result is a letter, "A" to "F", and a list of `beams` floats. After the
# *second* token, the list for two beams would be `[0.54, 0.4]`.

# %% [markdown] tags=["fine-print"]
# Don't round the products. The check tells you for which numbers of beams you are right, and names common mistakes.


# %% nbgrader={"grade": false, "grade_id": "decoding-sentence_found-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sentence_found(beams):
    """The sentence that a search of this width writes, and what it keeps after the third token.

    beams: int, 1, 2 or 3
    returns: str, "A" to "F", and a list of `beams` floats, the largest first
    """
    ### BEGIN SOLUTION
    return {1: ("B", [0.27]), 2: ("E", [0.27, 0.24]), 3: ("A", [0.27, 0.24, 0.216])}[beams]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A search throws away beginnings, so it finds a sentence only if it keeps that sentence's beginning at every length.
# One beam follows the likeliest article and finds B. Two beams find E. The best sentence of all is A, but after three
# words its beginning ranks only third, so finding it takes three beams. More beams guarantee nothing. All beginnings of
# one length compete with each other; if each beginning kept its own best continuation, you would get several greedy
# searches side by side.

# %% nbgrader={"grade": true, "grade_id": "decoding-sentence_found-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("decoding.sentence_found")
### BEGIN HIDDEN TESTS
check("decoding.sentence_found", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Here are the three paths you predicted, and the probabilities of the sentences.


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
        alt="The tree with three paths: one beam to die Katze hat getanzt, two to eine Katze tanzte, three to die Katze tanzte.",
    )


# %% [markdown]
# Why does greed lose? *hat* is the most probable **word** after *die Katze*, because every sentence in the perfect
# tense needs it. But then the paths branch, and each sentence gets only a share of that probability. *tanzte* is less
# probable as a word but leads to the most probable **sentence**.
#
# Real languages are full of such words: auxiliaries, articles and prepositions are probable because so much can follow
# them.
#
# ## 5. Several beginnings at once
#
# Such a search is called **beam search**. At each step it has a list of beginnings with their log-probabilities. It
#
# 1. extends every beginning by every word in the vocabulary: these are the candidates, each scored by the
#    log-probability of its beginning plus the log-probability of the new word;
# 2. adds the finished sentences to the candidates: a sentence that ends in `<e>` is not extended, and keeps its score;
# 3. keeps the `beams` best candidates.
#
# The search starts from the single beginning `<s>` with log-probability 0, and ends after `max_new_tokens` steps, or
# earlier if every sentence it keeps is finished. It returns the best sentence it has kept.
#
# With one beam for every possible sentence, the search is exhaustive and must find the best one. With fewer beams, it
# may miss the best sentence, as two beams did above: this is a **search error**. The transformer paper used 4 beams
# (Vaswani et al., 2017, section 6.1).
#
# ### Exercise 3 · Beam search
# `decoding.beam_search` · 6 points (5 for the values, 1 for more beams than words) · about 35 minutes
#
# Write beam search for one sentence, with plain Python lists if you like. It doesn't have to be fast.
#
# Shapes: as for `greedy`; `beams` is an int of at least 1. The result is int64 `[new]`, the best sentence, without
# `<s>`.

# %% [markdown] tags=["fine-print"]
# A sentence without `<e>` after `max_new_tokens` tokens still counts. The vocabulary may be smaller than `beams`.
#
# You can treat finished sentences in three ways: let them keep their beams, as above; set them aside and give their
# beams to other beginnings; or set them aside together with their beams, so that the search gets narrower. The check
# accepts all three, because it uses only cases where they agree. A sentence counts as finished only if it is among the
# best candidates of its step. Stop early only when no unfinished sentence can still win. It is not enough for one
# sentence to be finished, or even for `beams` of them.


# %% nbgrader={"grade": false, "grade_id": "decoding-beam_search-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def beam_search(step, start_id, end_id, beams, max_new_tokens):
    """The most probable sentence found by a search that keeps the `beams` best at every step.

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
# Each new word adds its log-probability to the score. The log-softmax makes beginnings comparable: raw logits from two
# steps have different, arbitrary offsets.
#
# Finished sentences stay among the candidates with their scores. If you stop at the first one, you may return a short
# sentence that a better one would have overtaken. If you continue after `<e>`, you change the scores of complete
# sentences. Sort all candidates of a step together: if you picked the best one for each beginning, you would get
# several greedy searches.

# %% nbgrader={"grade": true, "grade_id": "decoding-beam_search-check", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
check("decoding.beam_search")
### BEGIN HIDDEN TESTS
check("decoding.beam_search", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Does your program agree with your pencil? And **how many beams are enough?** We make up a hundred random models with a
# vocabulary of four words and `<e>`, so small that a search with 1000 beams sees every sentence of up to five words.
# Then we count how often a search with fewer beams finds the most probable one. **Guess first:** how often does one
# beam (greedy decoding) find it? How often do four?

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
# Most of the gain comes from the first few beams; later ones add little, and each costs as much as the first.
#
# Next, we test the translator. The trained one is nearly always sure, so we give the **beginner** fifty sentences that
# it has never seen. We translate each of them with greedy decoding and with a 4-beam search, and compare the
# log-probabilities of the two translations. Each dot is a sentence; on the dotted line, the two are equal.
# **Guess first:** for how many sentences does the search find a more probable translation, and for how many does it
# find a shorter one?

# %%
of_50_sentences = {"more probable": None, "shorter": None}


# %% tags=["demo"]
@show.when_ready
def greedy_and_beam_on_the_translator():
    beam_search(tree_step, START_ID, END_ID, 1, 1)  # waits for your search before the long part begins
    points, shorter, shown = [], 0, 0
    for pair in list(held_out.values())[:50]:
        step = step_for(pair.source, BEGINNER)
        both = greedy(step, START_ID, END_ID, 16), beam_search(step, START_ID, END_ID, 4, 16)
        points.append([log_probability(step, ids.tolist()) for ids in both])
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
    axes.set(xlabel="greedy decoding", ylabel="4 beams", title="log-probability of the translation found")
    show.figure(
        drawn,
        "Log-probabilities of translations by greedy decoding and beam search: most dots lie on or above the diagonal.",
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
# More probable to the model, that is. That doesn't mean *better*: a search finds only what the model believes.
#
# And look at the last line: the translation that the search finds is often **shorter**. That is no accident.
#
# ## 6. Short sentences win
#
# Every factor of the chain rule is at most 1. Each additional word makes a sentence less probable, so a search favors
# short ones. For more than half of a test set, an exact search found that a translator's most probable output was
# **empty**: just `<e>`. (Stahlberg and Byrne, 2019, *On NMT Search Errors and Model Errors: Cat Got Your Tongue?*) A
# search with few beams does well because it misses this empty output.
#
# One common remedy is to divide the log-probability by a **length penalty** (Wu et al., 2016, equation 14). It grows
# with the number of tokens, which here includes `<e>`:
#
# $$\text{score}(e) = \frac{\log P(e \mid f)}{\left(\frac{5 + \text{length}}{6}\right)^{\alpha}}.$$
#
# Log-probabilities are negative; dividing by a larger number brings them closer to 0, which helps long sentences. With
# $\alpha = 0$ nothing changes. The transformer paper used $\alpha = 0.6$. (This $\alpha$ has nothing to do with
# attention weights.)
#
# For example, take *the old cat slept because the dog danced*. The log-probability is −3.2 for a candidate that
# translates only half of it, and −4.0 for the full translation.

# %%
short, whole = "die alte Katze schlief <e>", "die alte Katze schlief , weil der Hund tanzte <e>"
candidates = torch.tensor([-3.2, -4.0])
lengths = torch.tensor([len(short.split()), len(whole.split())])


def length_penalised(log_probabilities, lengths, alpha):
    return log_probabilities / ((5 + lengths) / 6) ** alpha


print("alpha = 0.6:", length_penalised(candidates, lengths, 0.6))


# %% tags=["demo"]
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


where_the_whole_sentence_wins()

# %% [markdown]
# A search needs the penalty only for finished sentences, because at each step, all unfinished ones have the same
# length. The result is no longer a probability: we correct a flaw in the model with a flaw in the comparison, and have
# one more number to tune.
#
# Another remedy doesn't need a tuned number: stop asking for the *most probable* sentence. Draw a handful of
# translations (section 7 says how), and choose the one that **agrees best with all the others**. An empty sentence may
# be probable, but it is not like the others. This is **minimum Bayes risk decoding** (Kumar and Byrne, 2004; Eikema and
# Aziz, 2020, *Is MAP Decoding All You Need?*). How similar are two sentences $a$ and $b$? We use the F1 of their
# tokens,
#
# $$F_1(a, b) = \frac{2 \cdot \text{shared}(a, b)}{\text{length}(a) + \text{length}(b)},$$
#
# where a repeated token can be shared more than once: *die Katze die* and *die die Hunde* share two tokens, *die* and
# *die*. Real systems compare sentences with BLEU or a learned metric; you will meet both in lesson 10.
#
# ### Exercise 4 · The translation that agrees with the others
# `decoding.consensus` · 4 points · about 15 minutes
#
# For each sample, add up its F1 scores with all samples. Return the sample with the largest sum. `Counter` is imported:
# `Counter(a) & Counter(b)` keeps the smaller count of each token.
#
# Shapes: `samples` is a list of lists of token ids, and the result is one of these lists.

# %% [markdown] tags=["fine-print"]
# Every sample has at least one token, its `<e>`. A sample drawn twice is listed twice and counts twice. You may compare
# a sample with itself: that adds 1 to every sum, so the same sample still wins. Two different samples never tie for
# first place.


# %% nbgrader={"grade": false, "grade_id": "decoding-consensus-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def consensus(samples):
    """The sample that agrees best with all the others.

    samples: list of lists of ints, at least one token each
    returns: list of ints, one of the samples
    """

    ### BEGIN SOLUTION
    def f1(one, other):
        shared = sum((Counter(one) & Counter(other)).values())
        return 2 * shared / (len(one) + len(other))

    agreement = [sum(f1(one, other) for other in samples) for one in samples]
    return samples[agreement.index(max(agreement))]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Each sample votes for every sample like it. The winner doesn't have to be probable on its own: it is in the middle of
# the probability mass, far from an outlier such as the empty sentence. F1 needs both lengths: if you divide by only one
# of them, either short or long sentences win. Use `Counter`, because sets fail as soon as a word repeats. Count
# identical samples separately, because a sentence that is drawn twice is more probable.

# %% nbgrader={"grade": true, "grade_id": "decoding-consensus-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("decoding.consensus")
### BEGIN HIDDEN TESTS
check("decoding.consensus", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# For each of thirty held-out sentences, we draw twenty translations from the beginner and let them vote. Then we
# compute the mean F1 score against the right translation for the first sample, the winner of the vote, and the greedy
# translation. **Guess first:** is the vote better than a single draw? Than greedy decoding?

# %%
better_than = {"a single draw": None, "greedy decoding": None}  # True or False


# %% tags=["demo"]
@show.when_ready
def the_vote():
    consensus([[START_ID]])  # waits for your answer before the long part begins

    def drawn_translation(step, most=16):
        tokens = [START_ID]
        while tokens[-1] != END_ID and len(tokens) <= most:
            tokens.append(int(torch.multinomial(torch.softmax(step(tokens), dim=-1), 1)))
        return tokens[1:]

    def shared_f1(one, other):
        return 2 * sum((Counter(one) & Counter(other)).values()) / (len(one) + len(other))

    torch.manual_seed(0)
    found = {"a single draw": 0.0, "greedy decoding": 0.0, "the vote of twenty": 0.0}
    asked = list(held_out.values())[:30]
    for pair in asked:
        step = step_for(pair.source, BEGINNER)
        samples = [drawn_translation(step) for _ in range(20)]
        right = [*german.encode(pair.target), END_ID]
        best = greedy(step, START_ID, END_ID, 16).tolist()
        for name, ids in zip(found, (samples[0], best, consensus(samples)), strict=True):
            found[name] += 100 * shared_f1(ids, right) / len(asked)
    for name, f1 in found.items():
        print(f"F1 against the right translation, {name}: {f1:.1f}%")
    for name, guess in better_than.items():
        show.prediction(f"better than {name}", guess, found["the vote of twenty"] > found[name])


# %% [markdown]
# The vote is much better than a single draw: the samples agree on what the model is sure of. But the vote doesn't catch
# up with greedy decoding here, because label smoothing taught this translator to reserve a tenth of its probability for
# all the other words, and some of them end up in the samples. And each vote costs twenty translations.
#
# Watch a search at work as the beginner translates a sentence: press *Play*, then find a number of beams with which the
# search beats greedy decoding. What does the length penalty change? Can you beat the search by keeping a candidate that
# it would have dropped?


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
# For a translation we want *the best* sentence. But you wouldn't want the most probable story: it is dull, it repeats
# itself, and it is always the same. People don't always write the most probable word either (Holtzman et al., 2020,
# figure 2). The alternative is to **sample**: draw each token at random, with the model's probabilities.
#
# Here are ten words that might follow *die Katze*:

# %%
WORDS = "tanzte schlief sang sah lief fraß miaute dachte rechnete verdampfte".split()
following = torch.tensor([0.3, 0.24, 0.16, 0.1, 0.07, 0.05, 0.04, 0.02, 0.015, 0.005])
torch.manual_seed(0)
print(" ".join(WORDS[token] for token in torch.multinomial(following, 20, replacement=True).tolist()))

# %% [markdown]
# The trouble is in the **tail**. *verdampfte* has a one-in-two-hundred chance. A real vocabulary has tens of thousands
# of such tokens: each is nearly impossible, but together they are not. In a text of hundreds of tokens, one of them is
# bound to come up, and the model has to continue from there. Here are three remedies; most programs combine them.
#
# ### 7.1 Temperature
#
# Divide the logits by a number $T$, the **temperature**, before the softmax:
#
# $$p_i = \frac{\exp(\text{logits}_i / T)}{\sum_j \exp(\text{logits}_j / T)}.$$
#
# With $T = 1$ nothing changes. Below 1 the differences between logits grow, so probable tokens become more probable:
# near 0, the best token gets everything, which is greedy decoding. Above 1 the differences shrink, and for large $T$
# all tokens are nearly equally probable. The name comes from physics (Ackley, Hinton and Sejnowski, 1985).
#
# You have seen a temperature before: lesson 01 divided scores by $\sqrt{d_\text{head}}$ to keep the softmax from
# becoming too sharp.


# %%
def with_temperature(logits, temperature):
    return torch.softmax(logits / temperature, dim=-1)  # torch subtracts the largest quotient first: nothing overflows


for temperature in (0.5, 1.0, 2.0):
    print(f"T = {temperature}:", with_temperature(following.log(), temperature)[:4])

# %% [markdown]
# ### 7.2 Only the k most probable words
#
# A low temperature makes the tail thinner, but doesn't remove it. **Top-k** cuts it off: keep the $k$ most probable
# tokens, give the others probability 0, and divide by the sum so that the probabilities sum to 1 again (Fan et al.,
# 2018; for GPT-2's samples, Radford et al., 2019, used $k = 40$).
#
# ### Exercise 5 · Top-k
# `decoding.top_k` · 3 points (2 for the values, 1 for a k beyond the vocabulary) · about 10 minutes
#
# Write a function that takes and returns probabilities. The tokens you keep must stay in proportion. If `k` is larger
# than the vocabulary, keep all tokens.
#
# Shapes: `probabilities` is `[..., vocab_size]`, `k` is an int of at least 1, the result has the shape of `probabilities`.

# %% [markdown] tags=["fine-print"]
# No two tokens are equally probable.


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
# Top-k cuts the tail off and divides by the sum of the rest, so the tokens it keeps stay in proportion. The usual
# mistake is to take a softmax of the remaining probabilities, which makes them nearly equal and brings the dropped
# tokens back. The result is in the order of the vocabulary, since drawing needs ids, not ranks. If k exceeds the
# vocabulary size, nothing is cut off.

# %% nbgrader={"grade": true, "grade_id": "decoding-top_k-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoding.top_k")
### BEGIN HIDDEN TESTS
check("decoding.top_k", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 7.3 The nucleus
#
# What is a good $k$? After *die Katze*, hundreds of verbs are fine; after *Sehr geehrte*, the opening of a formal
# German letter, only two words or so are. A fixed $k$ cuts off good words in the first case, and lets in nonsense in
# the second.
#
# **Nucleus sampling** (**top-p**) fixes the mass instead of the number: sort the tokens by probability, and keep the
# **fewest** whose probabilities sum to at least $p$ (Holtzman et al., 2020). When the model is sure, the nucleus is
# small; when it isn't, the nucleus is large.
#
# In our example with $p = 0.75$, the sums are 0.3, 0.54, 0.70 and 0.80. The fourth word takes the sum past $p$ and
# belongs to the nucleus: without it, the mass would be too small.
#
# ### Exercise 6 · Nucleus
# `decoding.nucleus` · 3 points (2 for the values, 1 for p reached exactly, or not quite) · about 18 minutes
#
# Keep the nucleus, and divide its probabilities by their sum. Its tokens may be anywhere in the vocabulary.
#
# Shapes: `probabilities` is `[..., vocab_size]`, `p` is a float above 0 and at most 1, the result has the shape of
# `probabilities`.

# %% [markdown] tags=["fine-print"]
# If the tokens you have kept sum to exactly $p$, stop there. With $p = 1$, all tokens stay, even if rounding leaves
# their sum just below 1. No two tokens are equally probable.


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
# If you check the mass before each token, you get both ends right: the best token always stays, and so does the token
# that takes the sum to p.
#
# With p = 1, all tokens must stay. This needs its own case, because a cumulative sum of thousands of floats may reach 1
# too early. Divide the probabilities of the nucleus by their own sum, which usually exceeds p.

# %% nbgrader={"grade": true, "grade_id": "decoding-nucleus-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("decoding.nucleus")
### BEGIN HIDDEN TESTS
check("decoding.nucleus", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Set the temperature, k and p yourself. They are applied in the usual order: temperature first, then top-k, then the
# nucleus of the remaining words. Raise the temperature to 2 and see how many words a nucleus of 0.9 needs now. Then
# find a setting where *verdampfte* never comes up, but *miaute* still does.

# %% tags=["demo"]
show.sampling(WORDS, following)

# %% [markdown]
# Here are all three methods on the same ten words: the bars show probabilities, and the dots show the shares in 2000
# draws.


# %% tags=["demo"]
@show.when_ready
def one_distribution_five_ways():
    distributions = {
        "as it is": following,
        "temperature 0.5": with_temperature(following.log(), 0.5),
        "temperature 2": with_temperature(following.log(), 2.0),
        "top-k, k = 3": top_k(following, 3),
        "nucleus, p = 0.75": nucleus(following, 0.75),
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
# We draw a thousand whole **sentences** from the tree of section 4, word by word, at each of three temperatures, and
# count them. The bars show what the chain rule predicts. **Guess first:** *die Katze tanzte* is the most probable
# sentence in the tree. Which sentence comes up most often at a temperature of 0.1?

# %%
most_often_when_cold = ""  # a sentence


# %% tags=["demo"]
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


sentences_by_chance()

# %% [markdown]
# At a temperature of 1, every sentence comes up as often as the chain rule says: **sampling word by word is sampling
# whole sentences**.
#
# At lower temperatures, the winner is not the most probable sentence, *die Katze tanzte*, but *die Katze hat getanzt*.
# A low temperature sharpens each **step**, so near 0 you get greedy decoding, with all its flaws.
#
# So which method should you use? If there is more or less one right answer (a translation, a transcript, a summary of
# facts), use a search. If many answers are good and you want one of them (a story, a conversation), use sampling, with
# a nucleus or a temperature a little below 1.
#
# ## 8. Don't read the same tokens again
#
# Is decoding as slow as running a recurrent network, which also goes word by word? Both take $n$ sequential steps for
# $n$ tokens, and nothing in this section changes that. But how much work is a **step**?
#
# Look at `step_for` again. To get the 100th token, the decoder reads 99 tokens, projects all of them to queries, keys
# and values in every block, and sends them all through the feed-forward networks. Then we throw away everything but the
# last row. At the next step it reads the same 99 tokens again, plus one more.

# %% [markdown] tags=["slides"]
# S4 says that the transformer *gains no speed-up over a recurrent network* at test time.

# %%
n = 100
print("tokens read to write", n, "tokens, rereading all so far at each step:", sum(range(1, n + 1)))

# %% [markdown]
# What has changed for the 99 tokens since the last step? **Nothing.** Under the causal mask they can't see the new
# token. Their vectors, keys and values are the same as before, in every block.
#
# What does the new token need from them? Only their **keys**, to compare with its query, and their **values**, to
# average. So keep these two in a **KV cache** (key-value cache): at each step project only the new token, append its
# key and its value, and let its query attend to all of them (Shazeer, 2019). The keys and values of cross-attention
# come from the source, which never changes, so they are computed once.
#
# Often several new tokens arrive at once: a prompt, or (in section 10) a few words that a smaller model proposes. Each
# new token may attend to the cache, to the new tokens before it, and to itself. Here is the mask for two cached tokens
# and three new ones (rows are queries):
#
# | | cached | cached | new | new | new |
# |---|---|---|---|---|---|
# | new 1 | ✓ | ✓ | ✓ | | |
# | new 2 | ✓ | ✓ | ✓ | ✓ | |
# | new 3 | ✓ | ✓ | ✓ | ✓ | ✓ |
#
# ### Exercise 7 · New tokens and a cache
# `decoding.attend_with_cache` · 4 points (2 for a single new token, 2 for several) · about 20 minutes
#
# Compute the self-attention of the new tokens, using the cached keys and values of all tokens before them. Return the
# output, and the cache with the new keys and values appended **after** the others. You may use the course's
# `scaled_dot_product_attention(q, k, v, mask)`, with a mask `[new, tokens + new]` that is True where a query may
# attend.
#
# Shapes: `x` is `[..., new, d_model]`; `keys` and `values` are `[..., tokens, d_head]`, where `tokens` is 0 at the
# first step; the projections are `[d_model, d_head]`, applied as `x @ W_q`. The result is a tuple: one tensor `[...,
# new, d_head]` and two `[..., tokens + new, d_head]`.

# %% [markdown] tags=["fine-print"]
# Don't modify the input tensors. You may also use torch's `F.scaled_dot_product_attention`. Beware of `is_causal=True`:
# its triangle starts in the top left corner, as if nothing were cached.


# %% nbgrader={"grade": false, "grade_id": "decoding-attend_with_cache-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    """Causal self-attention of new tokens, with the keys and values of all tokens before them in a cache.

    x: [..., new, d_model], the new tokens
    keys, values: [..., tokens, d_head], of the tokens before them
    W_q, W_k, W_v: [d_model, d_head]
    returns: out [..., new, d_head], and keys and values [..., tokens + new, d_head]
    """
    ### BEGIN SOLUTION
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    new, tokens = x.shape[-2], keys.shape[-2]
    mask = torch.ones(new, tokens, dtype=torch.bool, device=x.device).tril(tokens - new)
    return scaled_dot_product_attention(x @ W_q, keys, values, mask), keys, values
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# With a cache, a step computes one row of attention instead of all of them, and writing n tokens takes on the order of
# n² dot products instead of n³. Append the new keys and values before you attend, since each token may attend to
# itself. A single new token doesn't need a mask, as the cache contains only the past. Several new tokens need the lower
# triangle, shifted right by the number of cached tokens: the i-th new token is the (cached + i)-th token of the text.
# `torch.cat` makes new tensors and leaves the caller's cache alone. Beam search relies on this: several beams continue
# from the same cache.

# %% nbgrader={"grade": true, "grade_id": "decoding-attend_with_cache-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("decoding.attend_with_cache")
### BEGIN HIDDEN TESTS
check("decoding.attend_with_cache", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# First we compare your function, one token at a time and then two and three at once, with causal self-attention over
# all five tokens. Then a GPT of four blocks with random weights (lesson 07) reads random tokens with and without the
# library's cache, and we compare all its logits.


# %% tags=["demo"]
WIDTH, LAYERS, LONGEST = 256, 4, 384
torch.manual_seed(0)
gpt = GPT(GPTConfig(500, LONGEST + 8, WIDTH, 4, LAYERS, 4 * WIDTH)).to(device).eval()
ids = torch.randint(500, (1, LONGEST + 8), device=device)


@show.when_ready
def cached_equals_uncached():
    torch.manual_seed(0)
    x, projections = torch.randn(5, 8), [torch.randn(8, 4) for _ in range(3)]
    q, k, v = (x @ W for W in projections)
    whole = scaled_dot_product_attention(q, k, v, torch.ones(5, 5, dtype=torch.bool).tril())
    for cuts in ([1, 1, 1, 1, 1], [2, 3]):
        keys = values = torch.empty(0, 4)
        rows = []
        for new in x.split(cuts):
            out, keys, values = attend_with_cache(new, keys, values, *projections)
            rows.append(out)
        difference = (torch.cat(rows) - whole).abs().max().item()
        print(f"one attention, {cuts} tokens at a time, largest difference: {difference:.1e}")

    with torch.inference_mode():
        cache = gpt.kv_cache(1, 32)
        steps = [gpt(ids[:, position : position + 1], kv_cache=cache) for position in range(32)]
        difference = (torch.cat(steps, dim=1) - gpt(ids[:, :32])).abs().max().item()
    print(f"a GPT of {LAYERS} blocks, largest difference: {difference:.1e}")


# %% [markdown]
# The outputs are equal up to rounding. Now measure: how long does **the next token** take after $n$ tokens? We compare
# the GPT without a cache, the GPT with one, and a recurrent network of four layers of the same width (torch's
# `nn.GRU`), which needs only its state. **Guess first:** after 384 words, how many times slower is the next word
# without the cache?

# %%
times_as_long_without = None  # a number

# %% tags=["demo"]
from course_lib.ground.timing import milliseconds

recurrent = nn.GRU(WIDTH, WIDTH, LAYERS, batch_first=True).to(device).eval()
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
axes.plot(at, without, "o-", color=show.ORANGE, label="GPT, without a cache")
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
print(f"the cache then contains {numbers:,} numbers; the state of the GRU, {LAYERS * WIDTH:,}")

# %% [markdown]
# Other programs on your computer can make individual points jump, so look at where the lines end. Without the cache,
# the time has grown several times over; with the cache, it has hardly grown at all.
#
# **The cache changes the work per step.** A step reads one token instead of all of them. Only the attention itself
# still grows, because the query is compared with more and more keys, but that is little work at these lengths.
#
# **It does not change the number of steps.** Token 100 still has to wait for token 99. Reading all tokens at once is
# far faster, but it is possible only if you know them already: in training, in a prompt, or in a draft (section 10). A
# recurrent network doesn't need a cache at all. Its state never grows, so each step does the same small amount of work
# at any length, while the transformer's cache grows with every token.

# %% [markdown] tags=["slides"]
# So S4's *no speed-up over a recurrent network* is right about the number of steps. But it flatters the transformer:
# without a cache each step is slower, as the lines show.

# %% [markdown]
# (On a GPU both GPT lines may look flat at these lengths. There the cache pays off for longer texts and larger models,
# and its own size becomes the problem: every step has to fetch the whole cache from memory, as Shazeer pointed out.)
#
# ## 9. All words at once?
#
# In **non-autoregressive** decoding, words don't wait for each other: the decoder predicts all words of the sentence in
# one step instead of $n$ (Gu et al., 2018, *Non-Autoregressive Neural Machine Translation*).
#
# What is the price? Look at the chain rule of section 3 and remove all the $e_1, \dots, e_{t-1}$ from it:
#
# $$P(e \mid f) \approx \prod_{t=1}^{n} P(e_t \mid f).$$
#
# Every position chooses a word without knowing what its neighbors choose. From our tree we compute how probable each
# word is at each **position**, regardless of the others, and let every position draw its own word. **Guess first:** of
# a thousand texts written this way, how many are in the tree?

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


def each_position_alone():
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


each_position_alone()

# %% [markdown]
# We get *tanzte getanzt*, and *hat* without a participle: each word is likely at its position, but the words don't
# belong together. Gu et al. call this the **multimodality problem**: if there are several good translations, the
# positions can't agree on one, so they mix them. Taking the most probable word at each position isn't safe either:
# these words may come from different translations too. The problem disappears only if there is a single good
# translation.
#
# There are remedies. You can train on data where each sentence has only one translation (Gu et al. let a teacher model
# produce it). Or you can give up some of the speed and write in a few rounds, each of which revises the least certain
# words from the round before (Ghazvininejad et al., 2019, *Mask-Predict*).

# %% [markdown] tags=["slides"]
# S4 promises to show later how to write the whole sentence at once. Here is how.

# %% [markdown]
# ## 10. A small model runs ahead
#
# Another method keeps the left-to-right model and its exact distribution. In **speculative decoding** (Leviathan et
# al., 2023), a small **draft model** writes a few tokens ahead, one by one, which is cheap. The large **target model**
# then reads all of them in *one* pass. On a GPU, where a step mostly waits for the weights to arrive from memory, this
# costs about as much as a single step (section 1 of their paper). The KV cache of exercise 7 is ready for it: it
# accepts several tokens at once.
#
# Which tokens do we keep? Suppose that the draft model drew a token with probability $q$, and the target model gives it
# probability $p$. Go through the draft from left to right:
#
# 1. Keep the token with probability $\min(1, p / q)$: always if the target model finds it at least as probable as the
#    draft model does, otherwise with probability $p / q$. In a program: draw `chance` uniformly between 0 and 1, and
#    keep the token if `chance` $< p / q$.
# 2. Stop at the first token that you drop. Draw the next token from the probability mass that the draft model lacks:
#    $\max(0, p - q)$ for every token in the vocabulary, divided by its sum.
# 3. If you keep them all, draw one more token: in the same pass, the target model has also predicted what comes after
#    the draft.
#
# Why is the result distributed as if the target model had written it alone? Step 1 produces a token $x$ with
# probability $q(x) \min(1, p(x)/q(x)) = \min(q(x), p(x))$. That falls short of $p(x)$ by $\max(0, p(x) - q(x))$. Step 2
# is reached with probability $\sum_x \max(0, p(x) - q(x))$ and draws from these differences divided by that sum, so it
# adds exactly what is missing.
#
# ### Exercise 8 · A small model runs ahead
# `decoding.speculative_step` · 4 points (3 for a draft with a dropped token, 1 for one that is kept whole) · about 20 minutes
#
# Given a draft, the distributions of both models, and the chances, return the number of tokens kept and the
# distribution that the next token is drawn from.
#
# Shapes: `drafted` is int64 `[drafted]`, `draft` is `[drafted, vocab_size]`, `target` is `[drafted + 1, vocab_size]`
# and `chances` is `[drafted]`. The result is a tuple of an int and a tensor `[vocab_size]`.

# %% [markdown] tags=["fine-print"]
# Row i of `draft` and row i of `target` belong to token i of the draft; the last row of `target` belongs to the token
# after the draft. Every drafted token has a positive probability in `draft`. The check avoids chances so close to p / q
# that rounding could make a difference.


# %% nbgrader={"grade": false, "grade_id": "decoding-speculative_step-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def speculative_step(drafted, draft, target, chances):
    """How much of a draft is kept, and what the next token is drawn from.

    drafted: int64 [drafted], the tokens that the draft model drew
    draft: [drafted, vocab_size], the distributions that it drew them from
    target: [drafted + 1, vocab_size], the target model's distributions at the same positions and the one after
    chances: [drafted], from 0 to 1
    returns: int, how many tokens are kept, and the distribution [vocab_size] of the token after those
    """
    ### BEGIN SOLUTION
    for position, token in enumerate(drafted.tolist()):
        p, q = target[position], draft[position]
        if chances[position] >= p[token] / q[token]:
            missing = (p - q).clamp(min=0)
            return position, missing / missing.sum()
    return len(drafted), target[-1]
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A tempting mistake is to draw from p itself after a dropped token, but the draft has already contributed min(q, p) of
# it. The missing part is max(0, p - q). Tokens after the first dropped token continue a text that no longer exists, so
# drop them as well, however good they look. And if you keep the whole draft, you get one token for free, because the
# target model has read all of it.

# %% nbgrader={"grade": true, "grade_id": "decoding-speculative_step-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("decoding.speculative_step")
### BEGIN HIDDEN TESTS
check("decoding.speculative_step", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# First, we test the distribution: the draft model gives the ten words of section 7 equal probabilities, and the target
# model gives them the probabilities shown there. We draw twenty thousand times with your function. Then we test the
# speed: the **beginner** drafts four tokens at a time for the trained translator. Both translators choose their most
# probable token, so the result must match, **word for word**, what greedy decoding writes with the trained translator
# alone. **Guess first:** how many passes of the trained translator does a token take? Without a draft, it takes one.

# %%
passes_per_token = None  # a number


# %% tags=["demo"]
def sure_of(logits):
    return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).float()


def greedy_with_a_draft(source, ahead=4, most=16):
    """What greedy decoding writes, and how often the trained translator reads."""
    small, passes, tokens = step_for(source, BEGINNER), 0, [START_ID]
    read = torch.tensor([english.encode(source)], device=device)
    while END_ID not in tokens and len(tokens) <= most:
        drafted, draft = [], []
        while len(drafted) < ahead and (not drafted or drafted[-1] != END_ID):
            draft.append(sure_of(small([*tokens, *drafted])))
            drafted.append(int(draft[-1].argmax()))
        with torch.no_grad():
            said = translator()(read, torch.tensor([[*tokens, *drafted]], device=device))[0, len(tokens) - 1 :].cpu()
        kept, after = speculative_step(
            torch.tensor(drafted), torch.stack(draft), sure_of(said), torch.rand(len(drafted))
        )
        tokens += [*drafted[:kept], int(after.argmax())]
        passes += 1
    return tokens[1 : tokens.index(END_ID) + 1 if END_ID in tokens else most + 1], passes


@show.when_ready
def a_draft_model_at_work():
    torch.manual_seed(0)
    even, target, counts = torch.full((1, 10), 0.1), following.expand(2, -1), torch.zeros(10)
    for chance, token in zip(torch.rand(20_000, 1), torch.randint(10, (20_000, 1)), strict=True):
        kept, after = speculative_step(token, even, target, chance)
        counts[token if kept else torch.multinomial(after, 1)] += 1
    print(
        f"20,000 draws, largest difference from the target's distribution: {(counts / 20_000 - following).abs().max():.3f}"
    )

    written, passes, same, asked = 0, 0, 0, list(held_out.values())[:40]
    for pair in asked:
        tokens, read = greedy_with_a_draft(pair.source)
        alone = greedy(step_for(pair.source), START_ID, END_ID, 16)
        written, passes, same = written + len(alone), passes + read, same + (tokens == alone.tolist())
    print(f"{same} of {len(asked)} translations match greedy decoding word for word")
    print(f"{passes / written:.2f} passes of the trained translator for each token, instead of 1")
    show.prediction("passes for each token", passes_per_token, passes / written)


# %% [markdown]
# You get the same text with fewer passes of the large model. How many fewer depends on how often the two models agree.
# A draft pays off if it is cheap and a pass of the large model is expensive: our two translators are the same size, so
# here it doesn't save any work.
#
# ### Exercise 9 · In your own words
# `decoding.which_way` · 2 points, read by a person · about 12 minutes
#
# A friend builds two programs with the same language model: one transcribes meetings, the other invents bedtime
# stories. "I use beam search with 50 beams for both," she says, "because more beams find more probable texts, and more
# probable is better." Answer in four to seven sentences. Is her first claim right? Is her second? What would you use
# for each program, and why? Name one measurement from this lesson as evidence.
#
# Learning on your own? Once you have written your answer,
# `solution("decoding.which_way")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "decoding-which_way-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# More beams do tend to find more probable texts, although only an exhaustive search guarantees it: on the random models
# of section 5, the share of best sentences found rose steeply up to four beams and then leveled off. But more probable
# is not better. The most probable text is often too short, sometimes empty, and a search finds only what the model
# believes. A transcript has one right answer, so I would use a search with a handful of beams and a length penalty, or
# let several samples vote. Many different stories would be good, but the most probable one is dull and always the same,
# so I would sample, with a nucleus or a temperature a little below 1 to tame the tail.
#
# *(One point for saying that more beams usually find more probable texts but that more probable is not better, and for
# naming a measurement that shows it, such as the shorter translations of section 5. One point for using a search or a
# vote if one answer is right, and sampling if many are good, with a reason for each.)*

# %% [markdown]
# ## Glossary
#
# - **Teacher forcing**: in training the decoder reads the right words before each position, not its own.
# - **Step function**: maps the tokens so far to the logits of the next token.
# - **Autoregressive**: each token is predicted from those before it.
# - **Greedy decoding**: write the most probable token at every step.
# - **Chain rule**: the probability of a sentence is the product of its tokens' probabilities, each given those before it.
# - **Log-probability**: the logarithm of a probability; logarithms add up where probabilities multiply.
# - **Exposure bias**: a model never reads its own mistakes in training, but it does at test time.
# - **Beam search**: keep the few most probable beginnings at every step.
# - **Search error**: the search misses the sentence that the model finds most probable.
# - **Length penalty**: a divisor for log-probabilities that lets long sentences compete.
# - **Minimum Bayes risk decoding**: draw several texts, and choose the one that agrees best with all of them.
# - **Sampling**: draw each token at random, with the model's probabilities.
# - **Temperature**: a divisor for the logits before the softmax; low values sharpen, high values flatten.
# - **Top-k**: sample only from the $k$ most probable tokens.
# - **Nucleus sampling (top-p)**: sample from the smallest set of most probable tokens with mass $p$.
# - **KV cache**: the keys and values of all tokens so far, kept so that each token is projected once.
# - **Non-autoregressive decoding**: all words are predicted at once, independently of each other.
# - **Multimodality problem**: words that are chosen independently mix several good sentences into a bad one.
# - **Speculative decoding**: a small draft model writes ahead, and the large target model checks the whole draft in one
#   pass.
#
# ## What you have now
#
# You have everything you need to get from a trained model to a text. The library combines these functions, for whole
# batches and with a cache, in `model.generate`. Its greedy loop is in `course_lib.decoding.greedy`, its beam search in
# `course_lib.decoding.beam`, and its sampling in `course_lib.decoding.sampling`.
#
# One thing was there all along, but decoding never needed it: the English sentence. Take the encoder away, and you have
# a language model. You will build one in the next lesson.
