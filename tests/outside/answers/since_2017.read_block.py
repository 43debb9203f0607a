# %% right | what was read before as one more key
def read_block(largest, total, out, scores, values):
    """What was read before as the value of one more key, whose score is the largest."""
    together = torch.cat([largest.unsqueeze(-1), scores], dim=-1)
    new = together.amax(dim=-1)
    powers = torch.exp(together - torch.where(new.isinf(), 0.0, new).unsqueeze(-1))
    old, block = (powers[..., :1], powers[..., 1:])
    return (new, old.squeeze(-1) * total + block.sum(-1), old * out + block @ values)


# %% wrong | -inf minus -inf | nothing_minus_nothing
def read_block(largest, total, out, scores, values):
    new = torch.maximum(largest, scores.max(dim=-1).values)
    shrink = torch.exp(largest - new)
    weights = torch.exp(scores - new.unsqueeze(-1))
    return new, total * shrink + weights.sum(-1), out * shrink.unsqueeze(-1) + weights @ values


# %% wrong | the old sums are not shrunk | not_shrunk
def read_block(largest, total, out, scores, values):
    new = torch.maximum(largest, scores.amax(-1))
    safe = new.masked_fill(new == -math.inf, 0.0)
    weights = (scores - safe[..., None]).exp()
    return new, total + weights.sum(-1), out + weights @ values


# %% wrong | the block's own largest for its weights | own_largest_subtracted
def read_block(largest, total, out, scores, values):
    block = scores.amax(-1)
    new = torch.maximum(largest, block)
    safe = torch.where(new == -math.inf, torch.zeros_like(new), new)
    own = torch.where(block == -math.inf, torch.zeros_like(block), block)
    shrink = torch.exp(largest - safe)
    weights = torch.exp(scores - own[..., None])
    return new, total * shrink + weights.sum(-1), out * shrink[..., None] + weights @ values


# %% wrong | out is divided already | divided_already
def read_block(largest, total, out, scores, values):
    new = torch.maximum(largest, scores.amax(-1))
    safe = torch.where(new == -math.inf, torch.zeros_like(new), new)
    shrink = torch.exp(largest - safe)
    weights = torch.exp(scores - safe[..., None])
    new_total = total * shrink + weights.sum(-1)
    new_out = (out * shrink[..., None] + weights @ values) / new_total[..., None]
    return new, new_total, new_out


# %% wrong | the old sums grow, guarded | grown_where_something_was_seen
def read_block(largest, total, out, scores, values):
    m = torch.maximum(largest, scores.amax(-1))
    safe = torch.where(torch.isinf(m), 0.0, m)
    a = torch.nan_to_num(torch.exp(safe - largest), nan=0.0, posinf=0.0)
    p = torch.exp(scores - safe[..., None])
    return m, total * a + p.sum(-1), out * a[..., None] + p @ values
