# %% right | p = 1 apart, and the mass before each word shifted by one
def nucleus(probabilities, p):
    ordered, places = probabilities.sort(dim=-1, descending=True)
    before = torch.cat([torch.zeros_like(ordered[..., :1]), ordered.cumsum(-1)[..., :-1]], -1)
    ordered[(before >= p) & (p < 1)] = 0
    kept = torch.empty_like(probabilities)
    kept.scatter_(-1, places, ordered)
    return kept / kept.sum(-1, keepdim=True)
# %% right | searchsorted for the word that crosses the line
def nucleus(probabilities, p):
    ordered, places = probabilities.sort(dim=-1, descending=True)
    up_to = ordered.cumsum(dim=-1).contiguous()
    target = torch.full_like(up_to[..., :1], p)
    last = torch.searchsorted(up_to, target).clamp(max=probabilities.shape[-1] - 1)
    if p == 1.0:
        last = torch.full_like(last, probabilities.shape[-1] - 1)
    limit = ordered.gather(-1, last)
    kept = torch.where(probabilities >= limit, probabilities, torch.zeros_like(probabilities))
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | mass before <= p: one word too many where words sum to p exactly | one_too_many_at_p
def nucleus(probabilities, p):
    ordered, places = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    values = torch.where(before <= p, ordered, 0.0)
    kept = torch.zeros_like(probabilities).scatter(-1, places, values)
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | the usual removal mask (cumsum > p shifted by one): one word too many where words sum to p exactly | one_too_many_at_p
def nucleus(probabilities, p):
    ordered, places = torch.sort(probabilities, descending=True, dim=-1)
    remove = ordered.cumsum(dim=-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    kept = probabilities.masked_fill(torch.zeros_like(remove).scatter(-1, places, remove), 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | mask in sorted order applied to the words in the order of the vocabulary | first_in_the_vocabulary
def nucleus(probabilities, p):
    ordered, places = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = torch.where(before < p, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | argmax of (cumsum >= p) for the crossing word: only the best word stays where rounding keeps the sum below p = 1 | none_reaches_1
def nucleus(probabilities, p):
    ordered, places = probabilities.sort(dim=-1, descending=True)
    last = (ordered.cumsum(dim=-1) >= p).int().argmax(dim=-1, keepdim=True)
    limit = ordered.gather(-1, last)
    kept = torch.where(probabilities >= limit, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | the number of words of the first row for all rows | one_number_for_all_rows
def nucleus(probabilities, p):
    ordered, places = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    n = int((before.reshape(-1, before.shape[-1])[0] < p).sum())
    values = ordered.clone()
    values[..., n:] = 0
    kept = torch.zeros_like(probabilities).scatter(-1, places, values)
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | crossing word left out + not divided by the sum | stops_below_p+not_normalised
def nucleus(probabilities, p):
    ordered, places = probabilities.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    values = torch.where(ordered.cumsum(dim=-1) <= p, ordered, 0.0)
    kept = torch.zeros_like(probabilities).scatter(-1, places, values)
    return kept
