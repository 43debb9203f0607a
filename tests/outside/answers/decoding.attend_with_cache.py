# %% right | torch's attention with a boolean mask made by comparing positions
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    before = keys.size(-2)
    k = torch.cat((keys, x.matmul(W_k)), -2)
    v = torch.cat((values, x.matmul(W_v)), -2)
    rows = torch.arange(before, k.size(-2))[:, None]
    cols = torch.arange(k.size(-2))[None]
    return F.scaled_dot_product_attention(x.matmul(W_q), k, v, attn_mask=cols <= rows), k, v
# %% right | the last rows of causal attention over everything, with made-up queries for the past
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    q = torch.cat([torch.zeros_like(keys)[..., : keys.shape[-2] - x.shape[-2], :], x @ W_q], dim=-2)
    out = F.scaled_dot_product_attention(q, keys, values, is_causal=True)
    return out[..., keys.shape[-2] - x.shape[-2] :, :], keys, values
# %% right | old and new scores apart
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    old = q @ keys.mT
    new = (q @ k.mT).masked_fill(torch.ones(x.shape[-2], x.shape[-2]).triu(1).bool(), -1e30)
    a = torch.softmax(torch.cat([old, new], -1) / math.sqrt(k.shape[-1]), -1)
    n = keys.shape[-2]
    return a[..., :n] @ values + a[..., n:] @ v, torch.cat([keys, k], -2), torch.cat([values, v], -2)
# %% wrong | torch's is_causal: the triangle starts in the top left | mask_from_the_top_left
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    return F.scaled_dot_product_attention(x @ W_q, keys, values, is_causal=True), keys, values
# %% wrong | no mask at all, right for one token | no_mask
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    return scaled_dot_product_attention(x @ W_q, keys, values), keys, values
# %% wrong | attends before it appends | new_ones_unseen
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    out = scaled_dot_product_attention(x @ W_q, keys, values)
    return out, torch.cat([keys, x @ W_k], dim=-2), torch.cat([values, x @ W_v], dim=-2)
# %% wrong | returns values before keys | values_first
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    new, tokens = x.shape[-2], keys.shape[-2]
    mask = torch.ones(new, tokens).tril(tokens - new).bool()
    return scaled_dot_product_attention(x @ W_q, keys, values, mask), values, keys
# %% wrong | W_k for the values as well | keys_for_values
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_k], dim=-2)
    new, tokens = x.shape[-2], keys.shape[-2]
    mask = torch.ones(new, tokens).tril(tokens - new).bool()
    return scaled_dot_product_attention(x @ W_q, keys, values, mask), keys, values
# %% wrong | only the new keys and values come back | new_ones_only_returned
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    k, v = x @ W_k, x @ W_v
    all_k, all_v = torch.cat([keys, k], -2), torch.cat([values, v], -2)
    mask = torch.ones(k.shape[-2], all_k.shape[-2]).tril(keys.shape[-2]).bool()
    return scaled_dot_product_attention(x @ W_q, all_k, all_v, mask), k, v
# %% wrong | shifted by one too many: the next token is seen | one_token_ahead
def attend_with_cache(x, keys, values, W_q, W_k, W_v):
    shift = keys.shape[-2] + 1
    keys = torch.cat([keys, x @ W_k], dim=-2)
    values = torch.cat([values, x @ W_v], dim=-2)
    mask = torch.ones(x.shape[-2], keys.shape[-2]).tril(shift).bool()
    return scaled_dot_product_attention(x @ W_q, keys, values, mask), keys, values
