# %% right | old and new scores apart, put together by their masses
def cached_attention(x, keys, values, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    scale = 1 / math.sqrt(k.shape[-1])
    old = (q @ keys.mT) * scale
    own = (q * k).sum(-1, keepdim=True) * scale
    top = torch.cat([old, own], -1).amax(-1, keepdim=True)
    e_old, e_own = (old - top).exp(), (own - top).exp()
    out = (e_old @ values + e_own * v) / (e_old.sum(-1, keepdim=True) + e_own)
    return out, torch.cat([keys, k], -2), torch.cat([values, v], -2)
# %% wrong | scaled by the root of the number of words | scaled_by_the_words
def cached_attention(x, keys, values, W_q, W_k, W_v):
    q = x @ W_q
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    scores = q @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-2])
    out = torch.softmax(scores, dim=-1) @ values
    return out, keys, values
# %% wrong | divided by d_head, not by its root | root_forgotten
def cached_attention(x, keys, values, W_q, W_k, W_v):
    q = x @ W_q
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    scores = q @ keys.transpose(-2, -1) / q.shape[-1]
    out = torch.softmax(scores, dim=-1) @ values
    return out, keys, values
# %% wrong | softmax over the queries: with one query all weights are 1 | softmax_over_the_query
def cached_attention(x, keys, values, W_q, W_k, W_v):
    q = x @ W_q
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    scores = q @ keys.transpose(-2, -1) / math.sqrt(q.shape[-1])
    out = torch.softmax(scores, dim=-2) @ values
    return out, keys, values
# %% wrong | returns values before keys | values_first
def cached_attention(x, keys, values, W_q, W_k, W_v):
    q = x @ W_q
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    scores = q @ keys.transpose(-2, -1) / math.sqrt(q.shape[-1])
    out = torch.softmax(scores, dim=-1) @ values
    return out, values, keys
# %% wrong | W_k for the values as well | keys_for_values
def cached_attention(x, keys, values, W_q, W_k, W_v):
    q = x @ W_q
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_k], dim=-2)
    scores = q @ keys.transpose(-2, -1) / math.sqrt(q.shape[-1])
    out = torch.softmax(scores, dim=-1) @ values
    return out, keys, values
# %% wrong | not scaled + the new word does not see itself | itself_not_seen+not_scaled
def cached_attention(x, keys, values, W_q, W_k, W_v):
    out = torch.softmax((x @ W_q) @ keys.mT, dim=-1) @ values
    return out, torch.cat([keys, x @ W_k], dim=-2), torch.cat([values, x @ W_v], dim=-2)
# %% wrong | keys averaged for values + not scaled | not_scaled+keys_averaged
def cached_attention(x, keys, values, W_q, W_k, W_v):
    q = x @ W_q
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    scores = q @ keys.transpose(-2, -1)
    out = torch.softmax(scores, dim=-1) @ keys
    return out, keys, values
# %% wrong | the root by ** 1/2, which is half | half_of_d_head
def cached_attention(x, keys, values, W_q, W_k, W_v):
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    scores = x @ W_q @ keys.mT / (keys.shape[-1] ** 1 / 2)
    return torch.softmax(scores, dim=-1) @ values, keys, values
