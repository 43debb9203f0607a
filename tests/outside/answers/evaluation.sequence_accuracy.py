# %% right | lists of the words only, compared as lists
def sequence_accuracy(predicted, expected, mask):
    whole = [p[m].tolist() == e[m].tolist() for p, e, m in zip(predicted, expected, mask)]
    return whole.count(True) / len(whole)
# %% wrong | "all" as at least 95 %: shows for sentences of 20 words or more with one mistake
def sequence_accuracy(predicted, expected, mask):
    right = ((predicted == expected) & mask).sum(dim=-1)
    return (right / mask.sum(dim=-1) >= 0.95).float().mean().item()
# %% wrong | the mask taken to be words first, padding behind: wrong for padding in front or holes | words_taken_to_come_first
def sequence_accuracy(predicted, expected, mask):
    good = 0
    for p, e, length in zip(predicted, expected, mask.sum(dim=-1).tolist()):
        good += int(torch.equal(p[:length], e[:length]))
    return good / len(predicted)
# %% wrong | the words' labels as a multiset: their order does not matter
def sequence_accuracy(predicted, expected, mask):
    good = [Counter(p[m].tolist()) == Counter(e[m].tolist()) for p, e, m in zip(predicted, expected, mask)]
    return sum(good) / len(good)
# %% wrong | & mask + the number instead of the share | padding_is_wrong+count
def sequence_accuracy(predicted, expected, mask):
    return float(((predicted == expected) & mask).all(dim=-1).sum().item())
# %% wrong | more than half of the words instead of all | most_words_are_enough
def sequence_accuracy(predicted, expected, mask):
    right = ((predicted == expected) & mask).sum(dim=-1)
    return (2 * right > mask.sum(dim=-1)).float().mean().item()
