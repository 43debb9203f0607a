# %% wrong | summed, not averaged | pairs_summed+words_summed
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    words = F.cross_entropy(word_logits.flatten(0, 1), word_labels.flatten(), reduction="sum")
    return words + F.cross_entropy(pair_logits, pair_labels, reduction="sum")
# %% wrong | the mean of both | mean_of_both
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    words = F.cross_entropy(word_logits.flatten(0, 1), word_labels.flatten(), ignore_index=-100)
    pairs = F.cross_entropy(pair_logits, pair_labels)
    return (words + pairs) / 2
# %% wrong | the mean over all words | divided_by_all_places
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    losses = F.cross_entropy(word_logits.transpose(1, 2), word_labels, reduction="none")
    return losses.mean() + F.cross_entropy(pair_logits, pair_labels)
# %% wrong | ignores label 0 | word_0_left_out
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    labels = word_labels.masked_fill(word_labels == -100, 0)
    words = F.cross_entropy(word_logits.transpose(1, 2), labels, ignore_index=0)
    return words + F.cross_entropy(pair_logits, pair_labels)
# %% wrong | a mean for each row first | pair_by_pair
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    rows = [F.cross_entropy(logits, labels) for logits, labels in zip(word_logits, word_labels) if (labels != -100).any()]
    return torch.stack(rows).mean() + F.cross_entropy(pair_logits, pair_labels)
# %% wrong | probabilities of the pairs, without a logarithm
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    words = F.cross_entropy(word_logits.flatten(0, 1), word_labels.flatten())
    p = pair_logits.softmax(-1).gather(1, pair_labels[:, None])
    return words + (1 - p).mean()
# %% wrong | one mean over words and pairs together | over_all_answers
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    words = F.cross_entropy(word_logits.flatten(0, 1), word_labels.flatten(), reduction="sum")
    pairs = F.cross_entropy(pair_logits, pair_labels, reduction="sum")
    return (words + pairs) / ((word_labels != -100).sum() + len(pair_labels))
# %% wrong | the words' softmax twice | words_take_it_twice
def pretraining_loss(word_logits, word_labels, pair_logits, pair_labels):
    words = F.cross_entropy(word_logits.softmax(-1).flatten(0, 1), word_labels.flatten())
    return words + F.cross_entropy(pair_logits, pair_labels)
