# %% right | n-grams zipped, counters combined
import functools
from collections import Counter


def clipped_ngrams(hypothesis, references, n):
    said, *known = (Counter(zip(*(words[i:] for i in range(n)), strict=False)) for words in (hypothesis, *references))
    allowed = functools.reduce(lambda one, other: one | other, known)
    return (sum((said & allowed).values()), sum(said.values()))


# %% right | what remains after subtraction is not matched; the smallest remainder per n-gram
def clipped_ngrams(hypothesis, references, n):
    def count(words):
        return Counter([tuple(words[i : i + n]) for i in range(len(words)) if i + n <= len(words)])

    total = max(0, len(hypothesis) - n + 1)
    left = count(hypothesis)
    said = count(hypothesis)
    for reference in references:
        left = left & (said - count(reference))
    return total - sum(left.values()), total


# %% wrong | (0, 0) as soon as one reference is shorter than n
def clipped_ngrams(hypothesis, references, n):
    def count(words):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    if len(hypothesis) < n or any(len(r) < n for r in references):
        return 0, 0
    most = Counter()
    for r in references:
        most |= count(r)
    said = count(hypothesis)
    return (said & most).total(), said.total()


# %% wrong | capital letters are ignored: The is the | lower_case
def clipped_ngrams(hypothesis, references, n):
    def count(words):
        return Counter(tuple(w.lower() for w in words[i : i + n]) for i in range(len(words) - n + 1))

    most = Counter()
    for r in references:
        most |= count(r)
    said = count(hypothesis)
    return (said & most).total(), said.total()


# %% wrong | not clipped + off by one | not_clipped+last_ngram_missing
def clipped_ngrams(hypothesis, references, n):
    def grams(words):
        return [tuple(words[i : i + n]) for i in range(len(words) - n)]

    there = [g for r in references for g in grams(r)]
    ours = grams(hypothesis)
    return len([g for g in ours if g in there]), len(ours)


# %% wrong | counts the reference's n-grams that were said, as often as the reference has them | reference_words_counted
def clipped_ngrams(hypothesis, references, n):
    def count(words):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    most = Counter()
    for r in references:
        most |= count(r)
    said = count(hypothesis)
    return sum(most[g] for g in said), said.total()


# %% wrong | range(len(words)): the ends, shorter than n, count as n-grams too | shorter_at_the_end
def clipped_ngrams(hypothesis, references, n):
    def count(words):
        return Counter(tuple(words[i : i + n]) for i in range(len(words)))

    most = Counter()
    for r in references:
        most |= count(r)
    said = count(hypothesis)
    return (said & most).total(), said.total()
