# %% right | choice by choice
def choice_probabilities(score, ids, segments, mask):
    columns = []
    for c in range(ids.shape[1]):
        columns.append(score(ids[:, c], segments[:, c], mask[:, c]))
    return F.softmax(torch.stack(columns, dim=1), dim=1)
# %% wrong | a buffer filled in a loop is float32
def choice_probabilities(score, ids, segments, mask):
    scores = torch.zeros(ids.shape[:2])
    for i in range(ids.shape[0]):
        scores[i] = score(ids[i], segments[i], mask[i])
    return scores.softmax(1)
# %% wrong | an epsilon below the line | something_added_below
def choice_probabilities(score, ids, segments, mask):
    e = score(ids.flatten(0, 1), segments.flatten(0, 1), mask.flatten(0, 1)).reshape(ids.shape[:2]).exp()
    return e / (e.sum(dim=1, keepdim=True) + 1e-8)
# %% wrong | the maximum of the batch taken off, not of the question | largest_of_the_batch
def choice_probabilities(score, ids, segments, mask):
    x = score(ids.flatten(0, 1), segments.flatten(0, 1), mask.flatten(0, 1)).reshape(ids.shape[:2])
    e = (x - x.max()).exp()
    return e / e.sum(dim=1, keepdim=True)
# %% wrong | squeeze() | squeezed
def choice_probabilities(score, ids, segments, mask):
    x = score(ids.flatten(0, 1), segments.flatten(0, 1), mask.flatten(0, 1)).reshape(ids.shape[:2])
    return x.softmax(1).squeeze()
# %% wrong | rows laid out choice by choice but put back question by question | laid_out_by_choices
def choice_probabilities(score, ids, segments, mask):
    b, c, w = ids.shape
    lay = lambda t: t.transpose(0, 1).reshape(-1, w)
    return score(lay(ids), lay(segments), lay(mask)).reshape(b, c).softmax(dim=1)
# %% wrong | columns stacked in dimension 0 | softmax_over_the_batch+choices_as_rows
def choice_probabilities(score, ids, segments, mask):
    columns = [score(ids[:, c], segments[:, c], mask[:, c]) for c in range(ids.shape[1])]
    return torch.stack(columns).softmax(1)
# %% wrong | mask of only True + softmax over the questions | softmax_over_the_batch+padding_read
def choice_probabilities(score, ids, segments, mask):
    rows = ids.flatten(0, 1)
    x = score(rows, segments.flatten(0, 1), torch.ones_like(rows, dtype=torch.bool)).reshape(ids.shape[:2])
    return x.softmax(0)
