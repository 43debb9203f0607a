# %% right | micro as a mean weighted by n-grams
def micro_and_macro(matched, total):
    each = [m / t if t else 0.0 for m, t in zip(matched, total)]
    votes = sum(total)
    micro = sum(r * t / votes for r, t in zip(each, total)) if votes else 0.0
    return micro, sum(each) / len(each)
# %% wrong | micro over sentences + macro over n-grams | micro_over_sentences+macro_over_ngrams
def micro_and_macro(matched, total):
    each = sum(m / t if t else 0.0 for m, t in zip(matched, total))
    return sum(matched) / len(total), each / max(sum(total), 1)
# %% wrong | macro divided by the number of n-grams | macro_over_ngrams
def micro_and_macro(matched, total):
    each = sum(m / max(t, 1) for m, t in zip(matched, total))
    return sum(matched) / max(sum(total), 1), each / max(sum(total), 1)
# %% wrong | a sentence with nothing right is left out of macro | wrong_sentences_left_out
def micro_and_macro(matched, total):
    each = [m / t for m, t in zip(matched, total) if m > 0]
    return sum(matched) / max(sum(total), 1), sum(each) / max(len(each), 1)
# %% wrong | the last sentence is left out | last_sentence_left_out
def micro_and_macro(matched, total):
    each = [matched[i] / max(total[i], 1) for i in range(len(total) - 1)]
    return sum(matched[:-1]) / max(sum(total[:-1]), 1), sum(each) / max(len(each), 1)
# %% wrong | empty sentences do not count in the mean | passed_over
def micro_and_macro(matched, total):
    micro = sum(matched) / sum(total) if sum(total) else 0.0
    each = [m / t for m, t in zip(matched, total) if t > 0]
    return micro, sum(each) / len(each) if each else 0.0
# %% wrong | the other way round | swapped
def micro_and_macro(matched, total):
    micro = sum(matched) / sum(total) if sum(total) else 0.0
    macro = sum(m / t if t else 0.0 for m, t in zip(matched, total)) / len(total)
    return macro, micro
