# %% right | every sentence's edits over the words of the whole corpus
def word_error_rate(hypotheses, references, distance):
    words = len([word for reference in references for word in reference])
    return math.fsum(distance(h, r) / words for h, r in zip(hypotheses, references))
# %% wrong | an empty hypothesis is skipped: its reference costs nothing | empty_hypotheses_cost_nothing
def word_error_rate(hypotheses, references, distance):
    edits = sum(distance(h, r) for h, r in zip(hypotheses, references) if h)
    return edits / sum(len(r) for r in references)
# %% wrong | an empty hypothesis is skipped, above and below | empty_hypotheses_left_out
def word_error_rate(hypotheses, references, distance):
    pairs = [(h, r) for h, r in zip(hypotheses, references) if len(h) > 0]
    return sum(distance(h, r) for h, r in pairs) / max(sum(len(r) for _, r in pairs), 1)
# %% wrong | repeated pairs count once (a dictionary by reference)
def word_error_rate(hypotheses, references, distance):
    edits = {tuple(r): distance(h, r) for h, r in zip(hypotheses, references)}
    return sum(edits.values()) / sum(len(r) for r in edits)
# %% wrong | divided by the hypotheses' words + in percent | over_hypothesis_words+in_percent
def word_error_rate(hypotheses, references, distance):
    edits = sum(distance(h, r) for h, r in zip(hypotheses, references))
    return 100 * edits / max(sum(len(h) for h in hypotheses), 1)
# %% wrong | divided by the words of both | over_words_of_both
def word_error_rate(hypotheses, references, distance):
    edits = sum(distance(h, r) for h, r in zip(hypotheses, references))
    return edits / sum(len(h) + len(r) for h, r in zip(hypotheses, references))
