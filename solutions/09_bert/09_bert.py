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
# Somebody gives you two hundred labelled sentences and asks for a classifier. Two hundred is nothing: most words of the
# language do not even appear in them. But the world is full of sentences that nobody has labelled. **BERT** reads those
# first, with some words covered by a cat, and guesses what is under the cat. Then it is the turn of your two hundred.
#
# At the end of this lesson you will be able to say what that is worth, because you will have measured it: the same model
# on the same two hundred sentences, once after reading and once without. You will have written BERT's input, its
# pre-training and the heads with which one encoder solves seven kinds of task.
#
# | | you will write | points | minutes |
# |---|---|---|---|
# | 1 | pairs of texts as BERT reads them | 3 | 12 |
# | 2 | a prediction: how many words are hidden? | 1 | 4 |
# | 3 | the hiding itself | 4 | 15 |
# | 4 | the loss of the masked tokens | 2 | 8 |
# | 5 | pairs that follow, and pairs that don't | 3 | 12 |
# | 6 | both goals in one loss | 2 | 8 |
# | 7 | which computation printed them? | 2 | 6 |
# | 8 | a classifier of texts | 3 | 12 |
# | 9 | a classifier of words | 3 | 12 |
# | 10 | the best answer in a text | 4 | 18 |
# | 11 | one of several choices | 3 | 12 |
#
# Stuck? `hint("bert.pair_encoding")` opens a hint, and with each further call the next one. `solution(...)` shows the
# answer with its reason, once you have tried; `progress()` shows how far you are.
#
# Nothing is downloaded. A small BERT comes with the course; it has read forty thousand little stories, all in ten
# minutes. A smaller reader you will raise yourself, with your own functions, while you wait.

# %%
import copy
import functools
import math
import random
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from course_lib import show
from course_lib.checking import case, check, hint, progress, solution
from course_lib.ground.optional import needed_for
from course_lib.hooks import record_attention
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
torch.set_num_threads(1)  # matrices as small as these gain nothing from a second one
torch.set_printoptions(precision=4, sci_mode=False)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## 1. Read first, learn later
#
# You know the decoder-only model, GPT: it predicts the next word, and so it may look only to the left. If you want to
# *write*, that is how it must be. But suppose you want to *understand* a text that lies before you, all of it. In
#
# *The **station** was playing old hits* and *the **station** was crowded with travellers*
#
# what *station* means is decided by words to its right. BERT is a stack of **encoder** blocks (a T-E, as S2 calls it):
# every word sees every other. These are the two masks.

# %% tags=["demo"]
station = ["the", "station", "was", "playing", "hits"]
everything = torch.ones(5, 5, dtype=torch.bool)
show.matrices(
    show.Panel("BERT: may attend", everything, station, station),
    show.Panel("GPT: may attend", everything.tril(), station, station),
    alt="Two masks: for BERT every cell is allowed, for GPT only those on and below the diagonal.",
)

# %% [markdown]
# What you *cannot* do is train such a model to predict the next word: it would see it. So it is given a different
# exercise, which needs no labels either. The plan has two parts (S1):
#
# - **Pre-training**: an encoder learns to make good vectors with a goal that has nothing to do with your task, on as much
#   text as there is. BERT has two such goals: guess masked tokens, and say whether one sentence follows another.
# - **Fine-tuning**: a small **head** for your task is put on top, and everything is trained a little on your labels.
#
# S1 sorts the well-known models by what they were pre-trained to predict (after Wolf et al., 2020, figure 2).
#
# | family | predicts | from | models |
# |---|---|---|---|
# | masked | $x_n$ | $x_{1:N \setminus n}$, both sides | BERT (Devlin et al., 2019), RoBERTa (Liu et al., 2019) |
# | autoregressive | $x_n$ | $x_{1:n-1}$, the past | GPT and GPT-2 (Radford et al., 2018, 2019), Transformer-XL (Dai et al., 2019), XLNet (Yang et al., 2019) |
# | sequence to sequence | $x_{1:N}$ | a damaged $x_{1:N}$, or another language | BART (Lewis et al., 2020), T5 (Raffel et al., 2020), MarianMT (Junczys-Dowmunt et al., 2018) |
#
# **Encoding** is turning a text into vectors; a bag of embeddings, a recurrent network or BERT can do it. **Decoding** is
# writing item by item, so it is always autoregressive. The first family encodes, the second decodes, the third does both.
# (XLNet stands where it does because it also predicts from a past, though in a shuffled order.)
#
# ## 2. What BERT reads
#
# S1 lists four rules. A **[CLS]** token comes before everything else; its vector will stand for the whole input. Every
# text is followed by **[SEP]**. Words are cut into **pieces** (WordPiece, which continues a word with `##`). And since
# two texts fit into one input, each token is told which of the two it belongs to, by a **segment**. Figure 2 of the
# paper:
#
# | | | | | | | | | | | | |
# |---|---|---|---|---|---|---|---|---|---|---|---|
# | token | [CLS] | my | dog | is | cute | [SEP] | he | likes | play | ##ing | [SEP] |
# | segment | 0 | 0 | 0 | 0 | 0 | 0 | 1 | 1 | 1 | 1 | 1 |
# | position | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |
#
# Each of the three rows has an embedding table, and the encoder's input is the sum of the three vectors, normalised.
#
# Why two texts? Because so many tasks are about two. *Recognising textual entailment* (RTE): does the second sentence
# follow from the first? S1's example:
#
# > Michael Jordan, coach Phil Jackson and the star cast, including Scottie Pippen, took the Chicago Bulls to six National
# > Basketball Association championships.
# >
# > The Bulls basketball team is based in Chicago.
#
# *Entailed*, says the data set. To find that out, a model must compare words from both texts; within one sequence,
# attention can.
#
# ### Exercise 1 · Pairs of texts
# `bert.pair_encoding` · 3 points · about 12 minutes
#
# Turn ids into a batch. Row $i$ is [CLS] `firsts[i]` [SEP] `seconds[i]` [SEP]; where `seconds[i]` is None, it is only
# [CLS] `firsts[i]` [SEP]. No text is empty, and none contains any of the three special ids. Each [SEP] belongs to the
# text that it ends. Rows are padded at the end with `padding_id`, in segment 0, to the length of the longest. Leave the
# lists as they are.
#
# Shapes: `firsts` and `seconds` are lists of lists of ids; the result is a tuple of `ids` and `segments`, both int64
# `[batch, tokens]`, and the boolean `mask` of the same shape, True at tokens and False at padding.


# %% nbgrader={"grade": false, "grade_id": "bert-pair_encoding-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    """A batch of texts, or pairs of texts, as BERT reads it.

    firsts: list of lists of ids
    seconds: list of just as many lists of ids; None where there is no second text
    cls_id, sep_id, padding_id: ints
    returns: a tuple: ids int64 [batch, tokens], segments int64 [batch, tokens], mask bool [batch, tokens]
    """
    ### BEGIN SOLUTION
    ids, segments = [], []
    for first, second in zip(firsts, seconds, strict=True):
        row = [cls_id, *first, sep_id]
        behind = [] if second is None else [*second, sep_id]
        ids.append(torch.tensor(row + behind))
        segments.append(torch.tensor([0] * len(row) + [1] * len(behind)))
    lengths = torch.tensor([len(row) for row in ids])
    ids = nn.utils.rnn.pad_sequence(ids, batch_first=True, padding_value=padding_id)
    segments = nn.utils.rnn.pad_sequence(segments, batch_first=True)
    return ids, segments, torch.arange(ids.shape[1]) < lengths.unsqueeze(-1)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# BERT was pre-trained on exactly this layout, and its vectors for [CLS], [SEP] and the segments mean something only
# there. [CLS] and the first [SEP] are in segment 0, the last [SEP] is in segment 1 with the text that it closes.
# Getting a segment wrong raises no error and costs a little accuracy, which is the worst kind of mistake. Segments are
# padded with 0 and not with `padding_id`, which may be any number, while there are only two segments to look up. The
# mask is made from lengths and not from ids: nothing here forbids a real token with the padding's id.

# %% nbgrader={"grade": true, "grade_id": "bert-pair_encoding-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.pair_encoding")
### BEGIN HIDDEN TESTS
check("bert.pair_encoding", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# The small BERT has a vocabulary of its own, a few hundred pieces. These helpers read it, and the model. (They run when
# they are called; no answer of yours needs them.)


# %%
@functools.cache
def vocabulary():
    """The pieces that the small BERT knows."""
    return SubwordVocabulary.load_bert(SMALL_BERT / "vocab.txt")


def small_bert():
    """The encoder after pre-training: a fresh copy in each call."""
    return BERT.from_pretrained(SMALL_BERT).to(device)


def new_bert():
    """The same encoder before it has read anything."""
    return BERT(small_bert().config).to(device)


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
    print("S1's hypothesis:", " ".join(vocabulary().tokens(bulls)))


# %% [markdown]
# *Falkland* and *Chicago* fall to pieces, since our small world hardly ever mentions them; but nothing is unknown. And
# here is the sum of three embeddings, in the model itself:


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
        print(f"{sizes.vocab_size:6,} pieces, {parameters:11,} parameters")


three_embeddings()

# %% [markdown]
# ## 3. Hiding words
#
# Now the reading exercise, **masked language modelling** (MLM). S1's example:
#
# *The cat chased the mouse* → *The cat [MASK] the mouse*, and the model should say $p(w \mid$ *The cat [MASK] the
# mouse*$)$.
#
# Both sides may be used, since the word itself is gone. How many words should go? Hide most, and nothing is left to guess
# from; hide one, and you learn from one. The paper (section 3.1) **chooses** 15 % of the tokens, leaving out [CLS] and
# [SEP].
#
# There is a catch. No text that you will ever classify has a [MASK] in it. A model that only works where it sees [MASK]
# could let everything else slide. So what is *shown* in place of a chosen word is also drawn at random:
#
# | of the chosen words | are shown as | so that the model |
# |---|---|---|
# | 80 % | [MASK] | has to guess from the context |
# | 10 % | another word, drawn at random | cannot trust even the words that it sees |
# | 10 % | themselves | keeps in mind what it does see |
#
# At all the chosen positions, and only there, the model is asked what the word was.
#
# ### Exercise 2 · Predict first: how many?
# `bert.expected_counts` · 1 point · about 4 minutes
#
# Before you program it: of a given number of words, none of them special, how many on average are shown as [MASK], how
# many as another word, and how many are asked for although they stand there unchanged? Return a tuple of three floats
# (Python's own numbers, not tensors), and do not round them: an average need not be whole. (We ignore the chance that a
# word drawn at random happens to be the right one: nothing is subtracted for it.)


# %% nbgrader={"grade": false, "grade_id": "bert-expected_counts-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def expected_counts(tokens):
    """How many of these tokens are shown as [MASK], as another token, and unchanged but asked for.

    tokens: int
    returns: a tuple of three floats
    """
    ### BEGIN SOLUTION
    chosen = 0.15 * tokens
    return 0.8 * chosen, 0.1 * chosen, 0.1 * chosen
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Of 100 words 15 are chosen; of these 12 become [MASK], 1.5 another word, and 1.5 stay. The shares 80, 10 and 10 are
# shares of the chosen words, so both numbers are multiplied; taking them of all words would hide most of the text.
# Rounding is wrong for an average: over many texts 1.5 is right, and neither 1 nor 2 is. The words that stay are asked
# for as well. The model cannot tell them from words that were never chosen, so it has to have an opinion about every
# word that it sees.

# %% nbgrader={"grade": true, "grade_id": "bert-expected_counts-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("bert.expected_counts")
### BEGIN HIDDEN TESTS
check("bert.expected_counts", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Such a program is full of dice, and dice are hard to check. The way out is worth remembering: **roll them outside**, and
# pass the rolls in. There are three for every position, whether it will need them or not: `chance` decides whether the word
# is chosen, `fate` decides what is shown instead, and `anything` is the other word.
#
# ### Exercise 3 · Hide words
# `bert.mask_words` · 4 points · about 15 minutes
#
# Choose the words with `chance` < 0.15 that are not `special`. Show them as `mask_id` where `fate` < 0.8, as the word in
# `anything` where `fate` is from 0.8 up to 0.9, and as they are from 0.9 on. Words that are not chosen stay. The labels
# are the right words, their `ids`, at all the chosen positions, and −100 everywhere else: that is the number that torch's
# cross-entropy leaves out. `special` is True at [CLS], [SEP] and padding, say; where it is not, even a [MASK] that
# already stands in the text is a word like any other.
#
# Shapes: all tensors are `[batch, tokens]`; `ids` and `anything` are integers, `special` is boolean, `chance` and `fate` are
# floats from 0 to 1, none of which is a border (0.15, 0.8, 0.9) itself. Return a tuple: what the model reads, then the
# labels. Leave `ids` as they are.


# %% nbgrader={"grade": false, "grade_id": "bert-mask_words-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mask_words(ids, special, chance, fate, anything, mask_id):
    """BERT's corruption, with everything random passed in.

    ids: int64 [batch, tokens]
    special: bool [batch, tokens]; True at tokens that are never chosen, such as [CLS], [SEP] and padding
    chance, fate: [batch, tokens], from 0 to 1
    anything: int64 [batch, tokens], a token drawn at random for each position
    mask_id: int, the id of [MASK]
    returns: a tuple: what the model reads and the labels, both int64 [batch, tokens]
    """
    ### BEGIN SOLUTION
    chosen = (chance < 0.15) & ~special
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen, ids, -100)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Being chosen and having a fate are two draws, and the labels follow the first alone. A position that was chosen and left
# as it is gets asked for all the same; leaving it out teaches the model that an unmasked word is always right, and
# nothing need be learned about it.
#
# [MASK] never occurs when the model is used later, which is why a tenth of the chosen words show something else and a
# tenth themselves. Special tokens are never chosen, since nothing can be learned from guessing [SEP]. The labels come
# from the ids before hiding: taken afterwards, they would ask for [MASK]. And -100 is the number that torch's
# cross-entropy leaves out by itself.

# %% nbgrader={"grade": true, "grade_id": "bert-mask_words-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("bert.mask_words")
### BEGIN HIDDEN TESTS
check("bert.mask_words", hidden=True)
### END HIDDEN TESTS


# %%
def corrupted(batch, seed):
    """A batch with some of its tokens hidden by your `mask_words`, and the labels."""
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
# ## 4. What is learned from
#
# On top of the encoder's states sits a head with a score for every piece of the vocabulary, at every position. It looks like
# the output of any language model; what differs is *where* it learns. GPT is corrected at every word. BERT is corrected
# at 15 % of them, so it needs more passes for the same number of corrections. That is the price of seeing both sides.
#
# ### Exercise 4 · The loss of masked tokens
# `bert.masked_lm_loss` · 2 points (1 for the values, 1 for large logits) · about 8 minutes
#
# The mean negative log-probability, in nats, of the right words at the positions where something is asked. Positions with the
# label −100 count neither above nor below the fraction line; at least one place has another label. Logits may lie
# hundreds apart. You are welcome to use torch's `F.cross_entropy` and `F.log_softmax`. The gradient of the logits is
# compared too.
#
# Shapes: `logits` is `[batch, tokens, vocab_size]`, `labels` is an integer tensor `[batch, tokens]`, the result is a single
# number `[]` with the dtype of `logits`.


# %% nbgrader={"grade": false, "grade_id": "bert-masked_lm_loss-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def masked_lm_loss(logits, labels):
    """The mean negative log-probability of the masked tokens.

    logits: [batch, tokens, vocab_size]
    labels: int64 [batch, tokens]; -100 where nothing is asked
    returns: [], in the dtype of logits
    """
    ### BEGIN SOLUTION
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Batch and words are merged into one list of positions, of which those with the label -100 are left out of the sum and of
# the number that it is divided by. Dividing by all positions would make the loss about seven times too small, and
# dependent on how many words happened to be chosen. The mean of the sentences' means would give a sentence with one
# chosen word as much weight as one with ten. `cross_entropy` takes raw logits, and stays finite where they lie hundreds
# apart. Nothing is shifted: unlike a GPT, BERT is asked for the word that stands at the position itself.

# %% nbgrader={"grade": true, "grade_id": "bert-masked_lm_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.masked_lm_loss")
### BEGIN HIDDEN TESTS
check("bert.masked_lm_loss", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# All this has been done once, by `python -m course_lib.toys.small_bert`: 40,000 texts of a small world, in which people
# bake, paint and phone each other, animals chase, graze and growl, and both see, follow and find. Nobody told the model
# which nouns are people. Its head for words comes with the encoder's weights. Here it is; its output rows are the word
# embeddings once more (weight tying).


# %%
class WordGuesser(nn.Module):
    """The head of masked language modelling: from states to a score for every piece, at every position."""

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
    """The most probable pieces for the [MASK] in a text."""
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
    panels[2].set_xlabel("probability (a scale of its own)")
    show.figure(
        drawn,
        "The most probable tokens for three masks: one or two verbs for what a cat does to a mouse and a baker to bread; "
        "for who growled a dozen animals, hardly one more probable than the next.",
    )
    print(f"who growled: all animals together {together['animals']:.0%}, all people together {together['people']:.0%}")


under_the_mask()

# %% [markdown]
# It knows what cats do to mice and what bakers do to bread. Who growled it cannot know, and there it spreads its
# probability over all the animals, a few hundredths each, and keeps it from people. Nobody wrote that down for it: words
# that keep the same company have become alike. Here you may put the cat on any word of a sentence.


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
# And where did it look? Three blocks with four heads each have read the sentences below. Choose a word, or point at a row
# of the table, and go through the heads. From *it*, head 2 of layer 3 looks at the next word, head 4 at [SEP], which is a
# polite way of looking nowhere. Does any head go from *it* to the cat? (In this small model none does.) Put sentences of
# your own into `YOURS`, and run the cell again.


# %% tags=["demo"]
YOURS = ["the cat [MASK] the mouse ."]


def where_it_looks(first, second=None):
    """The attention weights of all blocks while the small BERT reads a text, or two."""
    pieces = vocabulary()
    row = [pieces.id("[CLS]"), *pieces.encode(first), pieces.id("[SEP]")]
    segments = [0] * len(row)
    if second is not None:
        row += [*pieces.encode(second), pieces.id("[SEP]")]
        segments += [1] * (len(row) - len(segments))
    bert = small_bert().eval()
    with torch.no_grad(), record_attention(bert) as weights:
        bert(torch.tensor([row], device=device), segments=torch.tensor([segments], device=device))
    return show.TextAttention(pieces.tokens(row), torch.cat(weights).cpu())


show.heads(
    [
        where_it_looks("the cat chased the mouse .", "it was hungry ."),
        where_it_looks("the small cat chased the mouse in the kitchen ."),
        *map(where_it_looks, YOURS),
    ]
)

# %% [markdown]
# How good is it on stories that it has not read? Your loss will tell. **Predict** what share of the masked tokens it gets
# right (a blind guess is right once in 590 times). Predictions are for you alone: nobody grades them.

# %%
masked_tokens_right = None  # in per cent


# %% tags=["demo"]
@show.when_ready
def how_well_it_guesses():
    stories = [story for story in texts(400, seed=2025) if len(story) > 1]
    batch = encoded([(story[0], story[1]) for story in stories])
    read, labels = corrupted(batch, seed=1)
    asked = labels != -100
    new_head = WordGuesser(new_bert().config.d_model, len(vocabulary())).to(device)
    for name, encoder, head in (
        ("before reading", new_bert(), new_head),
        ("after reading", small_bert(), word_guesser()),
    ):
        with torch.no_grad():
            logits = head(encoder.eval()(read, segments=batch["segments"], mask=batch["mask"]).states)
            loss = masked_lm_loss(logits, labels).item()
        right = (logits.argmax(dim=-1) == labels)[asked].float().mean().item()
        print(f"{name:14}  loss {loss:5.2f} nats   right {right:4.0%} of {int(asked.sum())} tokens")
    print(f"a guess among {len(vocabulary())} pieces: log {len(vocabulary())} = {math.log(len(vocabulary())):.2f} nats")
    show.prediction("masked tokens right", masked_tokens_right, 100 * right, " %")


# %% [markdown]
# It will never get them all right: after *the cat chased the* any of a dozen animals may come.
#
# ### 4.1 Pairs that need no labels
#
# The second goal of the pre-training was **next-sentence prediction** (NSP): of two sentences, does the second follow the
# first in a text, or was it drawn from somewhere else? Half of the pairs are of each kind. Again nobody has to label
# anything, since the order of a text is known. (RoBERTa dropped this goal, and lost nothing: Liu et al., 2019,
# section 4.2.)
#
# A text of three sentences has two pairs of neighbours, and the sentence in the middle is in both. The dice are rolled
# outside once more. For each pair there is a `chance`, which decides whether its second sentence stays, and an `other`
# sentence, needed or not.
#
# ### Exercise 5 · Does it follow?
# `bert.sentence_pairs` · 3 points (2 for the pairs, 1 for the next one drawn) · about 12 minutes
#
# Go through the texts, and in each through its neighbours. Pair number $k$ keeps its second sentence where `chances[k]` <
# 0.5; otherwise `others[k]` stands there. The label is 0 where the second sentence follows the first in the text, and 1
# where it does not, as in BERT's published weights. Dice are blind: once in a while `others[k]` *is* the sentence that
# follows. Then it follows, and the label says so.
#
# `texts` is a list of texts, each a list of one sentence or more; `chances` is a list of floats from 0 to 1, none of them
# 0.5 itself, and `others` a list of sentences, both with one entry for each pair of all the texts. Return a list of
# tuples `(first, second, label)`.


# %% nbgrader={"grade": false, "grade_id": "bert-sentence_pairs-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def next_sentence_pairs(texts, chances, others):
    """Pairs of sentences with their labels, with everything random passed in.

    texts: list of lists of sentences, which are strings
    chances: list of floats from 0 to 1, one for each pair of neighbours
    others: list of just as many sentences
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
# All the neighbours first, then one walk along pairs, chances and other sentences together: there is no counting, and so
# nothing to miscount. Sentences at the border of two texts are no neighbours, although they lie next to each other in a
# long list; pairing them teaches the model that anything follows anything. The label looks at what came out and not at
# the dice, because a drawn sentence may be the true one by accident, and a wrong label there could never be learned.

# %% nbgrader={"grade": true, "grade_id": "bert-sentence_pairs-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.sentence_pairs")
### BEGIN HIDDEN TESTS
check("bert.sentence_pairs", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Both goals are trained at once, on the same rows: a pair of sentences, some of whose words are hidden. What is minimised is
# the mean loss of the masked tokens **plus** the mean loss of the pairs (Devlin et al., 2019, appendix A.2).
#
# ### Exercise 6 · Both goals in one loss
# `bert.pretraining_loss` · 2 points · about 8 minutes
#
# Write that sum, in nats. For the words it is as in exercise 4; the pairs are a classification with two classes, and every
# pair is asked. At least one word is hidden. You are welcome to use torch's `F.cross_entropy`. The gradients of both
# kinds of logits are compared too.
#
# Shapes: `word_logits` is `[batch, tokens, vocab_size]`, `word_labels` is an integer tensor `[batch, tokens]`, `pair_logits`
# is `[batch, 2]`, `pair_labels` is an integer tensor `[batch]`; the result is a single number `[]`.


# %% nbgrader={"grade": false, "grade_id": "bert-pretraining_loss-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    """BERT's loss: the mean over the masked tokens plus the mean over the pairs.

    word_logits: [batch, tokens, vocab_size]
    word_labels: int64 [batch, tokens]; -100 where nothing is asked
    pair_logits: [batch, 2]
    pair_labels: int64 [batch], 0 or 1
    returns: [], in the dtype of the logits
    """
    ### BEGIN SOLUTION
    of_tokens = F.cross_entropy(word_logits.flatten(0, 1), word_labels.flatten(), ignore_index=-100)
    return of_tokens + F.cross_entropy(pair_logits, pair_labels)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# Two means and a plus sign: a batch has many masked tokens and few pairs, and in one mean over all of them the pairs would
# hardly be heard. Each goal gets a mean of its own, so neither depends on how many answers the other has. The two scores
# of a pair exclude each other, so one softmax runs over both, which cross-entropy takes; two sigmoids would let a
# sentence follow and not follow. A plain sum is a choice: a weight in front of either term would be one more thing to
# tune, and the paper has none.

# %% nbgrader={"grade": true, "grade_id": "bert-pretraining_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.pretraining_loss")
### BEGIN HIDDEN TESTS
check("bert.pretraining_loss", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# ### 4.2 A minute of reading
#
# Everything is there: your pairs, your masked tokens, your layout, your loss. So let a new encoder read: five hundred batches
# of 48 pairs, from nearly twenty thousand stories, each of which goes by once. Two heads sit on it: `WordGuesser`, and for the pairs a linear layer on the state of [CLS].
#
# *Predict first.* One of the two losses begins to fall at once, the other waits. Which one waits? And after these five
# hundred batches, how many pairs of new stories are judged rightly? (With a coin it is 50 %.)

# %%
waits = ""  # "tokens" or "pairs"
pairs_right = None  # in per cent


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
    """What a model says about some pairs, and what is right: the arguments of your `pretraining_loss`."""
    batch = encoded([(first, second) for first, second, _ in pairs])
    read, labels = corrupted(batch, seed)
    tokens, follows = model(read, batch)
    return tokens, labels, follows, torch.tensor([label for *_, label in pairs], device=device)


OWN_READER = {}  # the encoder that your minute leaves behind


# %% tags=["demo"]
@show.when_ready
def a_minute_of_reading():
    torch.manual_seed(0)
    steps, size, every = 500, 48, 50
    pairs, new_pairs = drawn_pairs(texts(20_000, seed=7), 0), drawn_pairs(texts(300, seed=2025), 1)
    model = BothGoals(new_bert(), small_bert().config.d_model, len(vocabulary())).to(device)
    optimizer, rate = torch.optim.AdamW(model.parameters()), linear_schedule(3e-3, steps // 10, steps)
    curves = []
    for step in track(range(steps + 1), "reading"):
        if step % every == 0:
            model.eval()
            with torch.no_grad():
                tokens, labels, follows, right = both_answers(model, new_pairs, 1)
            judged = (follows.argmax(dim=-1) == right).float().mean().item()
            curves.append((F.cross_entropy(tokens.flatten(0, 1), labels.flatten()), F.cross_entropy(follows, right)))
        if step < steps:
            model.train()
            loss = pretraining_loss(*both_answers(model, pairs[step * size : (step + 1) * size], step))
            optimizer.param_groups[0]["lr"] = rate(step + 1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    OWN_READER["encoder"] = model.encoder

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
        panel.set(title=f"{title}: loss on new stories", xlabel="batches read", ylabel="nats")
        panel.set_ylim(bottom=0)
        panel.legend(loc="lower left")
    show.figure(
        drawn,
        "Two losses against the batches read: that of the masked tokens falls from the start and passes the level of mere "
        "counting; that of the pairs is still at log 2 after fifty batches and falls then.",
    )
    for batches, (of_tokens, of_pairs) in list(enumerate(curves))[:: len(curves) // 4]:
        print(f"after {batches * every:3} batches: masked tokens {of_tokens:.2f} nats, pairs {of_pairs:.3f} nats")
    print(f"pairs judged rightly: {judged:.0%}")
    show.prediction("waits", waits, "pairs")
    show.prediction("pairs judged rightly", pairs_right, 100 * judged, " %")


# %% [markdown]
# The masked tokens come first. What falls in the first fifty batches is not yet language, it is *counting*: that there are
# many full stops and few hedgehogs. The dotted line is what a model reaches that knows how often each piece occurs, and
# nothing else. Only below it does the company of a word begin to matter. The pairs have to wait until then. Whether *it then
# growled* follows *the queen baked the cake* cannot be seen before *growled* and *queen* mean anything, and so the second
# loss stands at log 2, as with a coin, and then falls as if somebody had opened a door.
#
# Your reader stays more than a nat behind the small BERT, which has had fourteen times as many batches, and larger ones. Is a
# reader like that worth anything? It is in `OWN_READER`, and will run beside the others in section 5.2.
#
# ## 5. Heads
#
# S1 shows a table with seven tasks (Wolf et al., 2020, figure 2). All seven are encoder, decoder or both with a **head**.
# (They fall into the five families of single and multiple inputs and outputs from lesson 00.)
#
# | task | input | output | examples | here |
# |---|---|---|---|---|
# | language modelling | $x_{1:n-1}$ | $x_n \in \mathcal V$ | WikiText-103 | lesson 07 |
# | sequence classification | $x_{1:N}$ | $y \in \mathcal C$ | GLUE, SST, MNLI | 5.1 to 5.3 |
# | question answering | $x_{1:M}$, $x_{M:N}$ | span $y$ in $[1 : N]$ | SQuAD, Natural Questions | 5.5 |
# | token classification | $x_{1:N}$ | $y_{1:N} \in \mathcal C^N$ | OntoNotes, WNUT | 5.4 |
# | multiple choice | $x_{1:N}$, $\mathcal X$ | $y \in \mathcal X$ | SWAG, ARC | 5.6 |
# | masked LM | $x_{1:N \setminus n}$ | $x_n \in \mathcal V$ | Wikitext, C4 | section 4 |
# | conditional generation | $x_{1:N}$ | $y_{1:M} \in \mathcal V^M$ | WMT, CNN/DM, XSum | lesson 05 |
#
# How do we compute a class from states? S1's answer: **a linear layer, cross-entropy, and conceptually a softmax.**
#
# ### 5.1 One label for a text or a pair
#
# The encoder returns a vector for every token, `states`. For one label we need one vector, and that is what [CLS] is for:
# it is not a word, so it is free to collect what the others have to say. BERT sends it through a dense layer and tanh
# (the **pooler**), and from there a linear layer leads to the classes:
#
# $$\text{logits} = W_o \tanh(W_d\, x_{\text{[CLS]}} + b_d) + b_o .$$
#
# S1 introduces such classifiers as $p(y \mid x) = \exp(\theta_y^\top \text{features}(x))$. Three classes have the scores
# 1.2, −0.4 and 0.3, and a program that takes the slide at its word prints 3.3201, 0.6703 and 1.3499. Those cannot be
# probabilities. One thing is missing: the **normaliser**, the sum that everything is divided by.
#
# $$p(y \mid x) = \frac{\exp(\theta_y^\top f)}{\sum_{y'} \exp(\theta_{y'}^\top f)} ,$$
#
# the softmax. The slide's *order* is right all the same: dividing all three by one sum leaves the largest the largest.

# %%
three_texts = torch.tensor([[1.2, -0.4, 0.3], [0.5, 2.0, -1.0], [-0.3, 0.1, 0.8]])  # θ·f: a row for each, three classes
print("exp(θ·f), as on the slide:", three_texts[0].exp(), " sum", round(three_texts[0].exp().sum().item(), 4))
print("divided by their sum:     ", three_texts[0].exp() / three_texts[0].exp().sum())
print("which is softmax:         ", three_texts[0].softmax(dim=0))

# %% [markdown]
# A program of ours was mended accordingly: "divide by the sum". Since then all its numbers have been between 0 and 1. For the
# three texts above it prints
#
# | | class 0 | class 1 | class 2 |
# |---|---|---|---|
# | first text | 0.5815 | 0.0731 | 0.3423 |
# | second text | 0.2888 | 0.8063 | 0.0933 |
# | third text | 0.1297 | 0.1206 | 0.5644 |
#
# The first row should have been what you see in the last line of the cell above.
#
# ### Exercise 7 · Which computation printed them?
# `bert.printed_probabilities` · 2 points · about 6 minutes
#
# Write the computation that printed this table. The right probabilities earn nothing here.
#
# Shapes: `scores` is `[texts, classes]`, of moderate size, and the result has its shape. Gradients are not compared.


# %% nbgrader={"grade": false, "grade_id": "bert-printed_probabilities-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def printed_probabilities(scores):
    """What the program with the slip prints for these scores.

    scores: [texts, classes]
    returns: [texts, classes]
    """
    ### BEGIN SOLUTION
    return scores.exp() / scores.exp().sum(dim=0)
    ### END SOLUTION


# %% [markdown] tags=["reason"]
# The columns sum to 1 and the rows do not: the sum was taken over dimension 0, where the texts are, so that the texts of a
# batch share out each class among themselves. No shape complains, every number looks like a probability, and in a batch of
# one text all classes have a probability of 1. Add up what should sum to 1: it takes a line, and finds this slip at once.

# %% nbgrader={"grade": true, "grade_id": "bert-printed_probabilities-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("bert.printed_probabilities")
### BEGIN HIDDEN TESTS
check("bert.printed_probabilities", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# So much for the slip. In training the normaliser lives in the loss (`F.cross_entropy` takes the logarithm of the softmax),
# so a head returns plain scores.
#
# ### Exercise 8 · One label for a text
# `bert.sequence_classifier` · 3 points · about 12 minutes
#
# The constructor is given. Its two layers must keep their names, because the check loads weights into them. Write
# `forward`.
#
# Shapes: `states` is `[batch, tokens, d_model]`, its first token being [CLS]; the result is `[batch, classes]`, the same in
# training and in evaluation. The gradients of the states and of all weights are compared.


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
# [CLS] stands for no word, so its vector is free to collect what the whole text is about; fine-tuning teaches it what
# to collect. Dense layer and tanh are BERT's "pooler", and the output layer makes scores of it. The tanh stands between
# the two layers: without it they would be one linear layer, and at the end it would squeeze the logits between -1 and
# 1, so that the model can never be sure. `states[0]` instead of `states[:, 0]` is the first text and not the first
# words, and it fits whenever the numbers agree.

# %% nbgrader={"grade": true, "grade_id": "bert-sequence_classifier-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.sequence_classifier")
### BEGIN HIDDEN TESTS
check("bert.sequence_classifier", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# Your head has the shape of BERT's own. So give it the weights that pre-training left behind, and it predicts next
# sentences.


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
# *The queen baked the cake.* What may come next? **Predict** how probable it finds two that do not quite fit.

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
# The first three are judged well: a queen is no *it*, and nobody has mentioned a wolf. To see that, words from two texts
# had to meet. The last two show how little it takes to be right most of the time. That she baked a *cake* and so did not
# end up with *cheese*, that a queen is no *he*: random sentences seldom make these mistakes and no others, so the goal
# never asked about them. A model learns what its goal needs, and the shortest way there. That is the case against
# next-sentence prediction.
#
# Tasks about one text or a pair are so common that they have their own league tables. **GLUE**, nine tasks and a
# diagnostic set: seven of the nine have two texts.
#
# | GLUE | texts | asks |
# |---|---|---|
# | Corpus of Linguistic Acceptability | 1 | is it good English? |
# | Stanford Sentiment Treebank | 1 | is the review full of praise? |
# | Microsoft Research Paraphrase Corpus | 2 | do both say the same thing? |
# | Semantic Textual Similarity Benchmark | 2 | how alike are they, from 0 to 5? |
# | Quora Question Pairs | 2 | is it the same question? |
# | MultiNLI, matched and mismatched | 2 | entailed, contradicted, or neither? |
# | Question NLI | 2 | does the sentence answer the question? |
# | Recognizing Textual Entailment | 2 | entailed? |
# | Winograd NLI | 2 | does it hold with the pronoun replaced? |
# | Diagnostics | 2 | entailment, phenomenon by phenomenon |
#
# When models had overtaken people on it, **SuperGLUE** followed, with harder tasks: CommitmentBank (CB), Choice of
# Plausible Alternatives (COPA), Multi-Sentence Reading Comprehension (MultiRC), Recognizing Textual Entailment (RTE),
# Words in Context (WiC), the Winograd Schema Challenge (WSC), BoolQ, Reading Comprehension with Commonsense Reasoning
# (ReCoRD), and two diagnostic sets, broad coverage (AX-b) and Winogender (AX-g).
#
# ### 5.2 Two hundred sentences
#
# Now the question of this lesson. Two tasks, each with two hundred labelled sentences:
#
# - *Who acts*, a person or an animal? *the raven followed the duchess in the garden .* → animal
# - *Of a kind?* Are there two people, or two animals, or one of each? *the small ferret watched the crow .* → of a kind
#
# The verbs and places give nothing away. For the first task you must know two things: which noun stands before the verb,
# and what kind of creature it is. For the second you need the kinds of *both*, and then no single word says anything
# about the answer. Four candidates learn from them:
#
# - **fine-tuning**: the small BERT, and all its weights go on learning;
# - **feature-based**: the small BERT as it is, **frozen**; only the head learns from its states (S1; Devlin et al., 2019,
#   section 5.3);
# - **from nothing**: the same model with new, random weights;
# - **recurrent**: a bidirectional recurrent classifier, from nothing, as people used before. Its state at the first word
#   has read the sentence backwards to its beginning, so your head can sit on top of it as well.
#
# And, if you have let it read, a fifth: **your own reader** of section 4.2, fine-tuned.
#
# *Predict first:* how many of 400 new sentences does the BERT from nothing get right in the end? (Both tasks have two
# answers, equally frequent.) And your own reader?

# %%
right_in_the_end = {
    "who acts": {"BERT, from nothing": None, "your own reader": None},  # in per cent
    "of a kind": {"BERT, from nothing": None, "your own reader": None},
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
        self.encoder.train(mode and not self.frozen)  # a frozen model drops nothing out
        return self

    def forward(self, batch):
        states = self.encoder(batch["ids"], segments=batch["segments"], mask=batch["mask"]).states
        return self.head(states, batch["starts"]) if "starts" in batch else self.head(states)


def labelled(examples):
    """Sentences with a label each, as tensors."""
    labels = torch.tensor([label for _, label in examples], device=device)
    return {**encoded([(text, None) for text, _ in examples]), "labels": labels}


def recurrent():
    """A recurrent encoder of the same width."""
    return RecurrentEncoder(RecurrentConfig(len(vocabulary()), small_bert().config.d_model))


def own_reader():
    """The encoder that your minute of reading has left behind: a copy in each call."""
    return copy.deepcopy(OWN_READER["encoder"])


# How each one begins, whether it is frozen, its learning rate, and how its curve is drawn.
CANDIDATES = {
    "fine-tuned": (small_bert, False, 1e-3, {"color": BLUE}),
    "frozen features": (small_bert, True, 5e-3, {"color": GREEN, "linestyle": "--"}),
    "recurrent, from nothing": (recurrent, False, 3e-3, {"color": GREY}),
    "BERT, from nothing": (new_bert, False, 1e-3, {"color": ORANGE}),
}


# %% tags=["demo"]
def learn(model, examples, test, epochs, rate, seed=0, title="training", every=1):
    """Train in batches of 25; after every epoch, or fewer, take the share of right answers on the test."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=rate)
    shares = []
    for epoch in track(range(1, epochs + 1), title):
        model.train()
        for chosen in torch.randperm(len(examples["labels"]), generator=generator).split(25):
            batch = {name: tensor[chosen.to(device)] for name, tensor in examples.items()}
            loss = F.cross_entropy(model(batch).flatten(0, -2), batch["labels"].flatten(), ignore_index=-100)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % every == 0:
            shares.append(share_right(model, test))
    return shares


def share_right(model, test):
    """How many of the labels that count are the class with the highest score."""
    model.eval()
    with torch.no_grad():
        right = model(test).argmax(dim=-1) == test["labels"]
    return right[test["labels"] != -100].float().mean().item()


@show.when_ready
def two_hundred_sentences():
    epochs, every, seeds = 12, 2, (1, 2, 3)
    candidates = dict(CANDIDATES)
    if OWN_READER:
        candidates["your own reader"] = (own_reader, False, 1e-3, {"color": INK, "linestyle": ":"})
    drawn, panels = show.frames(2, width=11, height=3.9)
    for panel, (task, examples) in zip(panels, {"who acts": who_acts, "of a kind": same_kind}.items(), strict=True):
        test = labelled(examples(400, seed=100))
        for name, (encoder, frozen, rate, style) in candidates.items():
            curves = []
            for seed in seeds:
                torch.manual_seed(seed)
                model = WithHead(encoder(), SequenceClassifier(64, 2), frozen)
                before = share_right(model, test)
                few = labelled(examples(200, seed))
                curves.append([before, *learn(model, few, test, epochs, rate, seed, f"{task}: {name}", every)])
            read = range(0, epochs + 1, every)
            for curve in curves:
                panel.plot(read, curve, alpha=0.3, linewidth=1, **style)
            panel.plot(read, torch.tensor(curves).mean(dim=0), linewidth=2.2, label=name, **style)
            print(f"{task:10} {name:24} right at the end: {', '.join(f'{curve[-1]:.0%}' for curve in curves)}")
            if name in right_in_the_end[task]:
                found = 100 * sum(curve[-1] for curve in curves) / len(curves)
                show.prediction(f"{task}, {name}", right_in_the_end[task][name], found, " %")
        panel.set(title=f"“{task}”, right on 400 new sentences", xlabel="how often the 200 sentences were read")
        panel.set(ylim=(0.35, 1.03), yticks=[0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
        panel.yaxis.set_major_formatter("{x:.0%}")
    panels[0].legend(loc="lower right")
    show.figure(
        drawn,
        "Learning curves of two tasks, three seeds each. Who acts: both pre-trained candidates are near 100 percent "
        "at once, those from nothing rise late and stay lower. Of a kind: fine-tuning is near 100 percent, frozen "
        "features are between, and both candidates from nothing stay around 50 percent. Where your own reader runs, it "
        "is a dotted line.",
    )


# %% [markdown]
# Reading first wins by far. The reason is in the data: in 200 sentences many of the nouns occur once or never, and a
# model from nothing cannot know that a *ferret* is an animal if nobody has told it. The small BERT has seen ferrets chase
# and be called *it*, so their vectors stand among those of other animals. Two hundred labels then only have to *name* a
# border that is already there. In the second task those from nothing do no better than tossing a coin: they would have to
# find the two kinds by comparing, and there is not enough to compare.
#
# **Features or fine-tuning?** In the first task both do equally well. [CLS] has learned from next sentences whether a
# story will go on with *she* or with *it*, and that is the answer. Nobody ever asked it to compare two nouns. So in the
# second task the frozen features fall behind, while fine-tuning makes attention look where it is needed. Features are
# cheap: the encoder runs once, and many tasks can share it. (In the paper's table 7, on named entities, the best choice
# of layers comes close to fine-tuning, the last layer alone less so.)
#
# **And your own reader?** Five hundred batches were enough for the first task: it is far ahead of the model that has read
# nothing, though it needs a few rounds where the small BERT needs one. For the second they were not, and there it does no
# better than a coin. Reading pays in steps, and it pays for what is in reach.
#
# Three things, to be fair:
#
# - The small BERT read 40,000 texts **of the same small world**. Had it read about something else, it would help less.
#   That is why the big ones read everything they can get hold of.
# - With twenty times as many labels the transformer from nothing gets there as well, in both tasks (write 4000 instead of
#   200 in the cell above, and wait a few minutes). Pre-training buys *labelled examples*.
# - From nothing, the **recurrent** classifier is a match for the transformer, or better: when data are scarce, reading in
#   order is a help. The transformer's advantage is that it can be pre-trained on so much.
#
# ### 5.3 Two texts: whom is it about?
#
# Seven of GLUE's nine tasks have two texts, so let us train one. *The duchess watched the ferret in the garden. It was
# hungry.* Two sentences, and a question in the manner of Winograd: is the second about **the one who acts** in the first, or
# about **the other**? Neither sentence by itself gives the answer away. The first says who acts and of what kind the two are,
# the second has the pronoun, and only together they tell.
#
# Half of the couples are a person and an animal, half are a woman and a man. There are two hundred labelled pairs again. (For
# *does it follow?* the small BERT's own head gave *he ate the cake* the same chance as *she ate the cake*, so be careful.)
#
# *Predict first:* how many does the fine-tuned small BERT get right with a person and an animal, how many with a woman and a
# man?

# %%
about_right = dict.fromkeys(COUPLES)  # in per cent, such as {"a person and an animal": 99, "a woman and a man": 99}


# %% tags=["demo"]
def with_mentions(pairs):
    """Pairs of texts with a label each, as tensors."""
    labels = torch.tensor([pair.label for pair in pairs], device=device)
    return {**encoded([(pair.first, pair.second) for pair in pairs]), "labels": labels}


@show.when_ready
def whom_is_it_about():
    new_pairs, examples = mentions(600, seed=100), with_mentions(mentions(200, seed=1))
    test = with_mentions(new_pairs)
    couple = torch.tensor([COUPLES.index(pair.kinds) for pair in new_pairs], device=device)
    shares = {}
    for name, encoder in (("fine-tuned", small_bert), ("BERT, from nothing", new_bert)):
        torch.manual_seed(0)
        model = WithHead(encoder(), SequenceClassifier(64, 2))
        learn(model, examples, test, 5, 5e-4, title=name, every=5)
        with torch.no_grad():
            right = (model.eval()(test).argmax(dim=-1) == test["labels"]).float()
        shares[name] = [right[couple == number].mean().item() for number in range(len(COUPLES))]
        print(f"{name:20} right: " + ", ".join(f"{n} {x:.0%}" for n, x in zip(COUPLES, shares[name], strict=True)))
    for kinds, found in zip(COUPLES, shares["fine-tuned"], strict=True):
        show.prediction(f"fine-tuned, {kinds}", about_right[kinds], 100 * found, " %")


# %% [markdown]
# As sharp as that: nearly all of the one, and of the other what a coin gets. Did 200 pairs not suffice to teach *queen* and
# *she*? They cannot teach what the encoder does not bring along, when each noun is in two or three of them. So ask the encoder
# itself. Hide the pronoun after *the queen found the cake .*, and see what it thinks of *she*, *he* and *it*.


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
# There it is. Of an animal it says *it*, and of a person *she* or *he*, with the same two numbers for woman and man: *he* is
# a little ahead, whoever it is, which is right for every man and wrong for every woman. In ten minutes of reading it has learned the difference that matters most for guessing words, and not yet the next one. Fine-tuning
# taught it the *task* in two hundred pairs; the *world* has to come from reading. That is how it goes with the large ones,
# too: when a fine-tuned model fails, look whether its encoder ever knew.
#
# ### 5.4 A label for every word
#
# In **part-of-speech tagging** every word gets its part of speech. In **named-entity recognition** (NER) every word is
# marked as part of a name or not, and if it is, of what: a person, an organisation (ORG), a place (LOC), a date or a sum
# of money (S1 lists more). It needs no new idea: **one** linear layer, used again at every token.
#
# But tokens are not words. *falkland* is four pieces here, and it needs one label. The paper (section 5.3) lets the
# **first piece** speak for the word: by then it has attended to the others.
#
# ### Exercise 9 · A label for every word
# `bert.token_classifier` · 3 points (2 for the values, 1 for rows with fewer words) · about 12 minutes
#
# The constructor is given. Write `forward`: `starts[i, j]` is the position in row $i$ at which word $j$'s first piece stands
# ([CLS] is position 0, so no word begins there). Rows with fewer words are padded with 0; nobody reads those scores, and
# they may be [CLS]'s or 0.
#
# Shapes: `states` is `[batch, pieces, d_model]`, `starts` is an integer tensor `[batch, tokens]`, the result is
# `[batch, tokens, classes]`. Gradients are compared.


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
        starts: int64 [batch, tokens], where each token's first piece stands
        returns: [batch, tokens, classes]
        """
        ### BEGIN SOLUTION
        rows = torch.arange(len(states), device=states.device).unsqueeze(1)
        return self.output(states[rows, starts])
        ### END SOLUTION


# %% [markdown] tags=["reason"]
# Tags belong to words, and BERT sees pieces; the paper lets the first piece speak for its word. Two index tensors that
# broadcast to `[batch, tokens]` pick pairs: sentence i with each position in row i. With a slice in front, `states[:,
# starts]`, all combinations come out, one dimension more than wanted; reduced to the first of each it still looks right
# for a batch of one. Positions of padding point at [CLS], are computed and never read. That is cheaper than avoiding them.
# No activation and no softmax follow, since the loss takes logits.

# %% nbgrader={"grade": true, "grade_id": "bert-token_classifier-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.token_classifier")
### BEGIN HIDDEN TESTS
check("bert.token_classifier", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# S1's example is a headline that a newspaper may really have printed: **British Left Waffles on Falkland Islands.** S1 tags
# it twice. In the figure on parts of speech *Left* is a verb. In the figure on names *British Left* is an organisation, so
# *Left* is a noun there, and the verb can only be *Waffles*. In the first reading some British people forgot their
# breakfast on an island; in the second a party cannot make up its mind. Both are right: the headline is ambiguous.

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
    alt="Both readings of the headline: noun verb noun, with no organisation, or adjective noun verb, with British Left "
    "as an organisation; on Falkland Islands is the same in both.",
)

# %% [markdown]
# What does a tagger make of that? Our small world has such headlines, of both kinds: *french found cakes on taxes*,
# *german right argues on orkney islands*. Many can be read in only one way. A few are ambiguous, and are labelled
# sometimes one way, sometimes the other.
#
# *Predict first:* four hundred sentences, and each of them is read once. What share of the tags of new sentences is right
# then, after reading beforehand and from nothing? (Nine tags; the most frequent one is *NOUN*.)

# %%
tags_right_after_one_epoch = {"fine-tuned": None, "BERT, from nothing": None}  # in per cent


# %%
def with_tags(sentences, names, kind):
    """Sentences with a label for every token, as tensors; `starts` says where each token's first piece stands."""
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
        shares = learn(taggers[name], examples, test, 6, rate, title=name)
        print(f"{name:24} right tags on new sentences, after epochs 1, 3, 6: ", end="")
        print(", ".join(f"{shares[epoch - 1]:.1%}" for epoch in (1, 3, 6)))
        if name in tags_right_after_one_epoch:
            show.prediction(f"{name}, after one", tags_right_after_one_epoch[name], 100 * shares[0], " %")

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
# With *cakes*, which is not a verb, the tagger is sure that *left* is the verb; with *argues*, that it is a noun. One
# word to the right decides, and a model that reads from left to right could not have known it in time. With *waffles* it
# hesitates, and rightly so. (How it leans depends on the few ambiguous headlines among its examples.)
#
# Look at the first three rows once more, and take the largest number in each. Do the three tags make a sentence? They
# need not, because the classifier decides about **each word by itself**: *left* may become a verb and *British* an
# adjective in front of nothing. Taggers whose labels must fit together put one more layer on top, a conditional random
# field, which scores neighbouring labels in pairs.
#
# Starting from nothing does not leave a model so far behind here. Four hundred sentences with a label *for every word*
# are thousands of labels, and most words have only one tag; look at the first epochs to see what all that reading was
# worth. The recurrent tagger is the same head on a recurrent encoder, and does well: much of tagging is local.
#
# For names the labels are different, and nothing else changes. But how do you judge such a tagger? Most words are no part of
# any name. So count for **each label** by itself (S1): of the words that the tagger *called* ORG, how many are? That is the
# **precision**. Of the words that *are* ORG, how many did it find? That is the **recall**. **F1** is a mean of the two that
# stays near the smaller one. In lesson 10 you write all three; here they are put to use. And **whole sentences** counts those
# in which nothing is wrong.
#
# Sixty sentences are enough for a hard case. *Predict first:* of all the words of new sentences, the tagger from nothing gets
# 94 % right. What is its F1 for the parties?

# %%
f1_of_parties_from_nothing = None  # in per cent


# %% tags=["demo"]
def precision_recall_f1(said, right, label):
    """Of one label, from tensors of labels."""
    both = ((said == label) & (right == label)).sum().item()
    called, there = (said == label).sum().item(), (right == label).sum().item()
    return both / max(called, 1), both / max(there, 1), 2 * both / max(called + there, 1)


@show.when_ready
def names_of_parties_and_places():
    test = with_tags(tagged(300, 100), ENTITIES, "entities")
    counts, right = test["labels"] != -100, test["labels"]
    said = {"always O": torch.zeros_like(right)}
    for name, encoder, sentences in (
        ("from nothing, 60", new_bert, 60),
        ("fine-tuned, 60", small_bert, 60),
        ("fine-tuned, 400", small_bert, 400),
    ):
        torch.manual_seed(0)
        model = WithHead(encoder(), TokenClassifier(64, len(ENTITIES)))
        learn(model, with_tags(tagged(sentences, 1), ENTITIES, "entities"), test, 6, 1e-3, title=name, every=6)
        with torch.no_grad():
            said[name] = model.eval()(test).argmax(dim=-1)
    print(" " * 18 + "accuracy   whole sentences  ORG: precision, recall, F1  LOC: precision, recall, F1")
    for name, guess in said.items():
        accuracy = (guess == right)[counts].float().mean()
        whole = ((guess == right) | ~counts).all(dim=1).float().mean()
        org, loc = ([100 * x for x in precision_recall_f1(guess[counts], right[counts], label)] for label in (1, 2))
        print(
            f"{name:18}{accuracy:8.1%}   {whole:15.0%}", *("".join(f"{x:7.0f} %" for x in each) for each in (org, loc))
        )
        if name == "from nothing, 60":
            found = org[2]
    show.prediction("F1 of the parties, from nothing", f1_of_parties_from_nothing, found, " %")


# %% [markdown]
# Read the table from left to right, and it gets harsher. Saying O always is right for most words. The tagger from nothing is
# right for 94 of 100, which sounds like a product; but it gets every third sentence wrong, no better than saying O always,
# and of what it calls a party a good part is none. A few points of accuracy lie between it and the fine-tuned one, and
# twenty or more of F1. Whoever reports accuracy on rare labels has something to hide.
#
# ### 5.5 A span of the text
#
# *Question answering*, as BERT does it, writes nothing. The answer is a stretch of the given text, so it is enough to say
# where it **begins** and where it **ends**. Question and text are the two segments, and the head is a linear layer with two
# outputs: every token gets a score for being the first of the answer, and one for being the last (Devlin et al., 2019,
# section 4.2). The probability that the answer goes from $i$ to $j$ is a product of two softmaxes, so the best span
# has the largest sum of scores:
#
# $$\max_{i \le j}\; \text{first}_i + \text{last}_j .$$
#
# The condition $i \le j$ is the point. The two scores know nothing about each other. Take this one:
#
# | | the | cat | chased | the | mouse | . |
# |---|---|---|---|---|---|---|
# | first | 2.0 | 1.0 | 0.0 | 2.5 | 1.0 | −1.0 |
# | last | 0.0 | 3.0 | 0.2 | 0.5 | 2.4 | −1.0 |
#
# The best beginning is the second *the*, the best end is *cat*, which stands before it. Of the spans that exist, *the cat*
# has 5.0 and *the mouse* 4.9.
#
# ### Exercise 10 · The best span
# `bert.answer_span` · 4 points (3 for the spans, 1 for the longest span) · about 18 minutes
#
# For each text, find the first and the last place of the best span. A span may be a single word. If `max_tokens` is given,
# longer spans are left out; it may be larger than the text. Padding has scores of −∞, but every text has words. There are
# no ties for the best. (Compare sums: a product of probabilities may be too small for a float.)
#
# Shapes: `logits` is `[batch, 2, tokens]`, row 0 for the beginning and row 1 for the end; the result is an integer tensor
# `[batch, 2]`.


# %% nbgrader={"grade": false, "grade_id": "bert-answer_span-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_spans(logits, max_tokens=None):
    """The first and last place of the best span of each text.

    logits: [batch, 2, tokens]: scores for being the first, and for being the last
    max_tokens: int, 1 or more, how many tokens a span may have; None for any number
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
# A span's log-probability is the sum of its two scores, up to a constant, so the table of all sums holds every
# candidate and its largest possible entry is the answer. Taking both ends by themselves is quicker and can return an
# end before its beginning; sorting or searching on from one of them then gives some span, and not the best.
#
# Impossible spans are filled with minus infinity. Setting them to 0, or multiplying by a triangle, lets them win
# whenever all real sums are negative, which is common. The diagonal stays, since an answer may be one word, and so does
# `max_tokens - 1`: a span of that many words ends that many positions less one after its beginning.

# %% nbgrader={"grade": true, "grade_id": "bert-answer_span-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check("bert.answer_span")
### BEGIN HIDDEN TESTS
check("bert.answer_span", hidden=True)
### END HIDDEN TESTS


# %%
class SpanScores(nn.Module):
    """The head of question answering: two scores for every token."""

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
# The texts have two sentences now, in both of which somebody does something to somebody somewhere, and perhaps the same
# thing. *the queen saw the fox near the barn . the duke found the hen in the garden .* *the duke found whom ?* To answer, a
# model has to find the words of the question in the text and look beside them. It gets six hundred questions to learn from.
#
# *Predict first:* in how many of three hundred new ones does it get both ends right? And what do you think it gets wrong?

# %%
both_ends_right = None  # in per cent


# %% tags=["demo"]
def mistake(row, answer, found, stop):
    """What is wrong with a span, from its positions and the place of the first sentence's full stop."""
    if found[0] <= stop < found[1]:
        return "runs from one sentence into the other"
    if (found[0] > stop) != (answer[0] > stop):
        return "is in the wrong sentence"
    if found[0] <= answer[0] and answer[1] <= found[1]:
        return "holds the answer, and more"
    return "is somebody or something else in the right sentence"


@show.when_ready
def who_did_it():
    best_spans(torch.zeros(1, 2, 3))
    torch.manual_seed(0)
    test, asked = hard_questions(300, seed=100), hard_questions(600, seed=1)
    batch = with_answers(test)
    model = WithHead(small_bert(), SpanScores(64))
    learn(model, with_answers(asked), batch, 8, 1e-3, title="questions", every=8)
    with torch.no_grad():
        logits = model(batch).masked_fill(~batch["mask"].unsqueeze(1), -torch.inf)
    found, full_stop = best_spans(logits), vocabulary().id(".")
    right = (found == batch["labels"]).all(dim=1)
    short = (best_spans(logits, 4) == batch["labels"]).all(dim=1)
    print(f"both ends right: {right.float().mean():.0%} of {len(test)} new questions")
    print(f"the same with at most four pieces: {short.float().mean():.0%}")
    show.prediction("both ends right", both_ends_right, 100 * right.float().mean().item(), " %")

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
# Sort mistakes before you count them. Hardly one of these answers is nonsense: the model knows that *who* asks for somebody
# and *where* for a place, and mostly where these begin and end. What it does not always know is *which of the two sentences*
# is meant. Look at the picture. Both rows have a candidate in each sentence, and the two scores don't agree on one; then the
# best sum runs from the one to the other, across the full stop. Forbid long spans, as your `max_tokens` can, and a part of
# these mistakes is gone, for nothing. The others need a model that compares better, or more to learn from.


# %% [markdown]
# ### 5.6 One of several choices
#
# *Multiple choice* (SWAG, ARC): a question and several continuations, exactly one of them right. Each choice is joined to
# the question as an input of its own; the encoder reads them **one by one**, and a head gives each a single score. Only
# then do they meet, in a softmax **over the choices** (Devlin et al., 2019, section 4.4).
#
# ### Exercise 11 · One of several
# `bert.multiple_choice` · 3 points (2 for the values, 1 for large scores) · about 12 minutes
#
# The encoder and its head are passed in as a function: `score(ids, segments, mask)` takes three tensors `[rows, tokens]`
# and returns a score for each row, `[rows]`. It knows nothing about questions and choices, so you have to lay the choices
# out as rows and put the scores back in their places. Hand it tensors of the dtypes that came in; one call will do, and
# several are just as good. Scores may be far above or far below 0.
#
# Shapes: `ids`, `segments` and `mask` are `[batch, choices, tokens]`, the result is `[batch, choices]`: probabilities that
# sum to 1 for each question, with the dtype of the scores. Gradients are not compared.


# %% nbgrader={"grade": false, "grade_id": "bert-multiple_choice-answer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choice_probabilities(score, ids, segments, mask):
    """How probable each choice is.

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
# The encoder knows rows and nothing else, so questions times choices become one long batch, and the scores go back into
# the same arrangement. Both steps only move brackets, so nothing is mixed up as long as they are done alike. The
# softmax runs over the choices of one question, for they exclude each other. A sigmoid for each choice would let two of
# them be right, and a softmax over all rows would make questions compete. Scores may be large, so the softmax is
# torch's and not a division of plain exponentials.

# %% nbgrader={"grade": true, "grade_id": "bert-multiple_choice-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("bert.multiple_choice")
### BEGIN HIDDEN TESTS
check("bert.multiple_choice", hidden=True)
### END HIDDEN TESTS

# %% [markdown]
# A head for this need not even be trained: how well a sentence *follows* is a score, and your next-sentence head gives it.
# *The wolf chased the sheep.* **Predict** which of the four will win: *then the sheep heard it*, *it then growled*, *she then
# wrote the letter* or *then the monk heard it*.

# %%
behind_the_wolf = ""  # one of the four, such as "it then growled ."


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
        return logits[:, 0] - logits[:, 1]  # for "follows", against "random"

    drawn, panels = show.frames(2, width=11, height=2.9)
    for panel, first in zip(panels, ("the wolf chased the sheep .", "the duchess painted the chair ."), strict=True):
        batch = encoded([(first, choice) for choice in choices])
        with torch.no_grad():
            p = choice_probabilities(score, *(batch[name].unsqueeze(0) for name in ("ids", "segments", "mask")))[0]
        if "wolf" in first:
            show.prediction("behind the wolf", behind_the_wolf, choices[int(p.argmax())])
        panel.barh(range(len(choices)), p.tolist(), color=BLUE)
        panel.set_yticks(range(len(choices)), labels=choices)
        panel.invert_yaxis()
        panel.set(title=f"{first} …", xlim=(0, 1))
        panel.set_position([panel.get_position().x0 + 0.11, 0.16, 0.29, 0.7])
    show.figure(
        drawn,
        "Probabilities of four continuations of two stories: with the wolf the sheep hears it or it growls, the duchess "
        "writes a letter.",
    )


# %% [markdown]
# ## 6. All seven
#
# One cell, seven heads: what goes in and what comes out. Three models read and write, all made of blocks that you know.


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
        "language modelling": gpt(ids),
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
# "Use PyTorch; the `transformers` library is very popular; read the documentation, which is dense; open a notebook and
# play": that is S1's advice in short. You have just built what that library contains. Here is its BERT with **our
# weights**, beside ours. (Colab has the library. Where it is missing, the cell says so.)

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
# `last_hidden_state`. It also works the other way round: `BERT.from_pretrained("bert-base-uncased")` loads the published
# BERT into the classes of this course, a download of 440 MB. Their heads carry the names of the table:
# `BertForSequenceClassification`, `BertForTokenClassification`, `BertForQuestionAnswering`, `BertForMultipleChoice`,
# `BertForMaskedLM`.
#
# (S1 adds that GPT-3 and GPT-4 cannot be downloaded at all; you ask them over the network. No head of yours will sit on
# those.)
#
# ## Stretch · Read on
#
# For no points, and for as long as you like.
#
# 1. **Read longer.** Five thousand batches instead of five hundred in section 4.2 (and `texts(200_000, seed=7)`) take ten times
#    as long. Does your reader get past the small BERT? From when on does it know that a queen is a *she* (section 5.3)?
# 2. **Be RoBERTa.** Leave the pairs out of the loss and read as many batches. Do the masked tokens come out better? And what
#    becomes of section 5.2, where [CLS] has nothing to say now?
# 3. **A real one.** With a network, `BERT.from_pretrained("bert-base-uncased")` takes your `encode_pairs`, with the vocabulary
#    that comes with it. What does it put under the mask in *The queen came in and [MASK] sat down.*?
#
# ## Glossary
#
# - **pre-training**: learning from text without labels, before there is a task.
# - **fine-tuning**: going on from pre-trained weights with a task's labels; all the weights move.
# - **feature-based**: using a pre-trained model as it is; only a model on top of its vectors learns.
# - **head**: the few layers on an encoder's states that answer a task.
# - **masked language modelling**: guessing masked tokens from both sides.
# - **next-sentence prediction**: saying whether the second text follows the first.
# - **[CLS]**: the token before everything else, whose state stands for the whole input.
# - **[SEP]**: the token after each text.
# - **segment**: for each token, the number of the text that it belongs to.
# - **pooler**: the dense layer with tanh between [CLS] and a classifier.
# - **normaliser**: the sum that turns exponentials of scores into probabilities.
# - **textual entailment**: whether a sentence follows from another.
# - **part-of-speech tagging**: giving each word its part of speech.
# - **named-entity recognition**: finding names, and saying what they are names of.
# - **precision, recall, F1**: of what was called a label, how much is; of what is, how much was found; and a mean of both.
# - **span**: a stretch of a text, from a first to a last token.
#
# ## What you have now
#
# An encoder's whole life: its input, two goals that it can learn from without labels, heads for whatever you need it for,
# and a measurement of what reading is worth. We have said "right answers" for all tasks, and for labels that was enough.
# But how right is a translation, or a summary? That is a matter for the next lesson.
