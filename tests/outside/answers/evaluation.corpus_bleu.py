# %% right | numpy, logarithms, infinities allowed
import numpy as np
def corpus_bleu(counts, lengths, penalty):
    c = np.array(counts, dtype=float).sum(axis=0)
    c[c[:, 1] == 0] = [0, 1]
    with np.errstate(divide="ignore"):
        mean = np.exp(np.log(c[:, 0] / c[:, 1]).mean())
    hyp = ref = 0
    for n, several in lengths:
        hyp += n
        ref += min(several, key=lambda r: (abs(n - r), r))
    return float(mean) * penalty(hyp, ref)
# %% right | loops, running product
def corpus_bleu(counts, lengths, penalty):
    N = len(counts[0])
    product = 1.0
    for n in range(N):
        m = t = 0
        for sentence in counts:
            m += sentence[n][0]
            t += sentence[n][1]
        product *= m / t if t else 0.0
    best = []
    for n, several in lengths:
        pick = several[0]
        for r in several[1:]:
            if abs(r - n) < abs(pick - n) or (abs(r - n) == abs(pick - n) and r < pick):
                pick = r
        best.append(pick)
    return product ** (1.0 / N) * penalty(sum(n for n, _ in lengths), sum(best))
# %% wrong | closest, but the first of two that tie | first_of_two
def corpus_bleu(counts, lengths, penalty):
    p = [sum(s[n][0] for s in counts) / max(1, sum(s[n][1] for s in counts)) for n in range(len(counts[0]))]
    ref = sum(min(several, key=lambda r: abs(n - r)) for n, several in lengths)
    return math.prod(p) ** (1 / len(p)) * penalty(sum(n for n, _ in lengths), ref)
# %% wrong | all references' lengths added up
def corpus_bleu(counts, lengths, penalty):
    p = [sum(s[n][0] for s in counts) / max(1, sum(s[n][1] for s in counts)) for n in range(len(counts[0]))]
    return math.prod(p) ** (1 / len(p)) * penalty(sum(n for n, _ in lengths), sum(sum(several) for _, several in lengths))
# %% wrong | sentence BLEU, averaged | mean_of_sentences
def corpus_bleu(counts, lengths, penalty):
    scores = []
    for sentence, (n, several) in zip(counts, lengths):
        p = [m / t if t else 0 for m, t in sentence]
        ref = min(several, key=lambda r: (abs(n - r), r))
        scores.append(penalty(n, ref) * math.prod(p) ** (1 / len(p)))
    return sum(scores) / len(scores)
# %% wrong | no root + in percent | root_forgotten+in_percent
def corpus_bleu(counts, lengths, penalty):
    p = [sum(s[n][0] for s in counts) / max(1, sum(s[n][1] for s in counts)) for n in range(len(counts[0]))]
    ref = sum(min(several, key=lambda r: (abs(n - r), r)) for n, several in lengths)
    return 100 * math.prod(p) * penalty(sum(n for n, _ in lengths), ref)
