# %% wrong | sets, not counts, for the order | sets_of_words_compared
def sort_error(hypothesis, reference):
    if hypothesis == reference:
        return "right"
    if set(hypothesis) == set(reference):
        return "order"
    if sorted(w[:4] for w in hypothesis) == sorted(w[:4] for w in reference):
        return "form"
    if any(hypothesis.count(w) > reference.count(w) for w in reference):
        return "repeated"
    if len(hypothesis) < len(reference):
        return "short"
    return "word"
# %% wrong | any word that stands there twice | twice_is_too_often
def sort_error(hypothesis, reference):
    if hypothesis == reference:
        return "right"
    if Counter(hypothesis) == Counter(reference):
        return "order"
    if Counter(w[:4] for w in hypothesis) == Counter(w[:4] for w in reference):
        return "form"
    if len(set(hypothesis)) < len(hypothesis):
        return "repeated"
    return "short" if len(hypothesis) < len(reference) else "word"
# %% wrong | forms compared place by place | stems_in_order
def sort_error(hypothesis, reference):
    if hypothesis == reference:
        return "right"
    if sorted(hypothesis) == sorted(reference):
        return "order"
    if len(hypothesis) == len(reference) and all(a[:4] == b[:4] for a, b in zip(hypothesis, reference)):
        return "form"
    for word in reference:
        if hypothesis.count(word) > reference.count(word):
            return "repeated"
    if len(hypothesis) < len(reference):
        return "short"
    return "word"
# %% wrong | everything in small letters | capitals_ignored
def sort_error(hypothesis, reference):
    hypothesis = [w.lower() for w in hypothesis]
    reference = [w.lower() for w in reference]
    if hypothesis == reference:
        return "right"
    if sorted(hypothesis) == sorted(reference):
        return "order"
    if sorted(w[:4] for w in hypothesis) == sorted(w[:4] for w in reference):
        return "form"
    if any(hypothesis.count(w) > reference.count(w) for w in reference):
        return "repeated"
    return "short" if len(hypothesis) < len(reference) else "word"
