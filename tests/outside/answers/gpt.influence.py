# %% right | one batch of all changed texts
def influence(model, ids, vocab_size):
    n = len(ids)
    batch = ids.repeat(n, 1)
    batch[range(n), range(n)] = (ids + 1) % vocab_size
    diff = (model(batch) - model(ids.unsqueeze(0))).abs().amax(-1)
    return diff.t()
# %% right | filled in column by column in numpy style
def influence(model, ids, vocab_size):
    base = model(ids[None])[0]
    result = torch.empty(len(ids), len(ids))
    for j in range(len(ids)):
        new = ids.clone()
        new[j] = int(ids[j] + 1) % vocab_size
        result[:, j] = torch.max(torch.abs(model(new[None])[0] - base), dim=1).values
    return result
# %% wrong | rows are the changed tokens | transposed
def influence(model, ids, vocab_size):
    base = model(ids[None])[0]
    rows = []
    for j in range(len(ids)):
        new = ids.clone()
        new[j] = (ids[j] + 1) % vocab_size
        rows.append((model(new[None])[0] - base).abs().max(-1).values)
    return torch.stack(rows)
# %% wrong | without the absolute value | signed
def influence(model, ids, vocab_size):
    base = model(ids[None])[0]
    result = torch.zeros(len(ids), len(ids))
    for j in range(len(ids)):
        new = ids.clone()
        new[j] = (ids[j] + 1) % vocab_size
        result[:, j] = (model(new[None])[0] - base).max(-1).values
    return result
# %% wrong | no copy: the changes pile up | changes_pile_up
def influence(model, ids, vocab_size):
    base = model(ids[None])[0]
    result = torch.zeros(len(ids), len(ids))
    new = ids.clone()
    for j in range(len(ids)):
        new[j] = (new[j] + 1) % vocab_size
        result[:, j] = (model(new[None])[0] - base).abs().amax(-1)
    return result
# %% wrong | replaced by token 0 | replaced_by_0
def influence(model, ids, vocab_size):
    base = model(ids[None])[0]
    result = torch.zeros(len(ids), len(ids))
    for j in range(len(ids)):
        new = ids.clone()
        new[j] = 0
        result[:, j] = (model(new[None])[0] - base).abs().amax(-1)
    return result
# %% wrong | the mean of the changes | averaged
def influence(model, ids, vocab_size):
    base = model(ids[None])[0]
    result = torch.zeros(len(ids), len(ids))
    for j in range(len(ids)):
        new = ids.clone()
        new[j] = (ids[j] + 1) % vocab_size
        result[:, j] = (model(new[None])[0] - base).abs().mean(-1)
    return result
# %% wrong | probabilities compared | of_probabilities
def influence(model, ids, vocab_size):
    base = model(ids[None])[0].softmax(-1)
    result = torch.zeros(len(ids), len(ids))
    for j in range(len(ids)):
        new = ids.clone()
        new[j] = (ids[j] + 1) % vocab_size
        result[:, j] = (model(new[None])[0].softmax(-1) - base).abs().amax(-1)
    return result
