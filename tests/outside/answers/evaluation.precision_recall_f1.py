# %% right | padding filled with another label
def label_scores(predicted, expected, mask, label):
    predicted, expected = (predicted.clone(), expected.clone())
    predicted[~mask] = expected[~mask] = label + 1
    said, true = (predicted.eq(label), expected.eq(label))
    right = said.logical_and(true).sum().item()
    precision, recall = (right / (said.sum().item() or 1), right / (true.sum().item() or 1))
    return (precision, recall, 2 * precision * recall / (precision + recall or 1))


# %% right | try and except ZeroDivisionError
def label_scores(predicted, expected, mask, label):
    hit = int(torch.logical_and(predicted == label, expected == label).logical_and(mask).count_nonzero())
    said = int((predicted.masked_fill(~mask, label - 1) == label).count_nonzero())
    true = int((expected.masked_fill(~mask, label - 1) == label).count_nonzero())
    out = []
    for top, bottom in ((hit, said), (hit, true), (hit, (said + true) / 2)):
        try:
            out.append(top / bottom)
        except ZeroDivisionError:
            out.append(0.0)
    return tuple(out)


# %% wrong | mask ignored + precision and recall exchanged | swapped+mask_ignored
def label_scores(predicted, expected, mask, label):
    right = ((predicted == label) & (expected == label)).sum().item()
    said, true = (predicted == label).sum().item(), (expected == label).sum().item()
    return right / max(true, 1), right / max(said, 1), 2 * right / max(said + true, 1)


# %% wrong | F1 is the smaller of the two | smaller_of_the_two
def label_scores(predicted, expected, mask, label):
    p, e = predicted[mask], expected[mask]
    right = ((p == label) & (e == label)).sum().item()
    precision = right / max((p == label).sum().item(), 1)
    recall = right / max((e == label).sum().item(), 1)
    return precision, recall, min(precision, recall)


# %% wrong | Jaccard (right / union) instead of F1 | over_the_union
def label_scores(predicted, expected, mask, label):
    p, e = predicted[mask] == label, expected[mask] == label
    right, either = (p & e).sum().item(), (p | e).sum().item()
    return right / max(p.sum().item(), 1), right / max(e.sum().item(), 1), right / max(either, 1)


# %% wrong | 0 / 0 counts as 1 for precision and recall | ratios_of_one_for_nothing
def label_scores(predicted, expected, mask, label):
    p, e = predicted[mask], expected[mask]
    right = ((p == label) & (e == label)).sum().item()
    said, true = (p == label).sum().item(), (e == label).sum().item()
    precision = right / said if said else 1.0
    recall = right / true if true else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return precision, recall, f1


# %% wrong | mask only on what is expected: what is predicted in the padding costs precision | mask_for_what_is_expected_alone
def label_scores(predicted, expected, mask, label):
    p, e = predicted == label, (expected == label) & mask
    right = (p & e).sum().item()
    said, true = p.sum().item(), e.sum().item()
    return right / max(said, 1), right / max(true, 1), 2 * right / max(said + true, 1)
