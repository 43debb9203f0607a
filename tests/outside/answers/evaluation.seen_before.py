# %% right | lists of slices, a set of positions
def seen_before(test, training, n):
    grams = []
    for words in training:
        for i in range(len(words)):
            piece = words[i:i + n]
            if len(piece) == n:
                grams.append(piece)
    result = []
    for words in test:
        marked = set()
        for i in range(len(words)):
            if len(words[i:i + n]) == n and words[i:i + n] in grams:
                marked |= set(range(i, i + n))
        result.append(len(marked) / len(words) if words else 0.0)
    return result
# %% right | numpy mask
import numpy as np
def seen_before(test, training, n):
    known = set()
    for words in training:
        known.update(zip(*(words[k:] for k in range(n))))
    out = []
    for words in test:
        mask = np.zeros(len(words), dtype=bool)
        for i, gram in enumerate(zip(*(words[k:] for k in range(n)))):
            if gram in known:
                mask[i:i + n] = True
        out.append(float(mask.mean()) if len(words) else 0.0)
    return out
# %% wrong | share of n-grams, not of words | share_of_runs
def seen_before(test, training, n):
    known = {tuple(w[i:i + n]) for w in training for i in range(len(w) - n + 1)}
    out = []
    for w in test:
        grams = [tuple(w[i:i + n]) for i in range(len(w) - n + 1)]
        out.append(sum(g in known for g in grams) / len(grams) if grams else 0.0)
    return out
# %% wrong | matched runs times n over words | counted_again
def seen_before(test, training, n):
    known = {tuple(w[i:i + n]) for w in training for i in range(len(w) - n + 1)}
    return [n * sum(tuple(w[i:i + n]) in known for i in range(len(w) - n + 1)) / max(len(w), 1) for w in test]
# %% wrong | substring of the text, so parts of words match
def seen_before(test, training, n):
    text = " \n ".join(" ".join(w) for w in training)
    out = []
    for w in test:
        mark = [False] * len(w)
        for i in range(len(w) - n + 1):
            if "".join(w[i:i + n]) in text.replace(" ", ""):
                for k in range(i, i + n):
                    mark[k] = True
        out.append(sum(mark) / len(w) if w else 0.0)
    return out
# %% wrong | crashes on an empty sentence
def seen_before(test, training, n):
    known = {tuple(w[i:i + n]) for w in training for i in range(len(w) - n + 1)}
    out = []
    for w in test:
        marks = set()
        for i in range(len(w) - n + 1):
            if tuple(w[i:i + n]) in known:
                marks.update(range(i, i + n))
        out.append(len(marks) / len(w))
    return out
