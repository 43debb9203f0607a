# %% right | the sum over heads of head_i times its rows of W_o, instead of Concat
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    total = 0
    for Wq, Wk, Wv, Wo in zip(
        W_q.chunk(heads, 1), W_k.chunk(heads, 1), W_v.chunk(heads, 1), W_o.chunk(heads, 0), strict=True
    ):
        total = total + scaled_dot_product_attention(x @ Wq, memory @ Wk, memory @ Wv, mask) @ Wo
    return total


# %% right | torch's F.scaled_dot_product_attention (not the multi-head attention that is forbidden)
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (
        y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, memory @ W_k, memory @ W_v)
    )
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.unsqueeze(1))
    return out.transpose(1, 2).reshape(x.shape) @ W_o


# %% wrong | interleaved heads (head i gets every heads-th number), joined back in the same way | interleaved_both_ways
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (y.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2) for y in (x @ W_q, memory @ W_k, memory @ W_v))
    out = scaled_dot_product_attention(q, k, v, None if mask is None else mask.unsqueeze(1))
    return out.permute(0, 2, 3, 1).flatten(2) @ W_o


# %% wrong | attends between the heads of one word: the transpose forgotten on both ways (memory of another length raises) | heads_behind_the_words
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (y.unflatten(-1, (heads, -1)) for y in (x @ W_q, memory @ W_k, memory @ W_v))
    out = scaled_dot_product_attention(q, k, v)
    return out.flatten(2) @ W_o


# %% wrong | W_k and W_v exchanged | keys_and_values_exchanged
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, memory @ W_v, memory @ W_k))
    out = scaled_dot_product_attention(q, k, v, None if mask is None else mask.unsqueeze(1))
    return out.transpose(1, 2).flatten(2) @ W_o


# %% wrong | the mask transposed (queries and keys exchanged; a symmetric mask is unharmed, a memory of another length raises) | mask_transposed
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, memory @ W_k, memory @ W_v))
    out = scaled_dot_product_attention(q, k, v, None if mask is None else mask.transpose(1, 2).unsqueeze(1))
    return out.transpose(1, 2).flatten(2) @ W_o


# %% wrong | scaled twice: the queries divided by the root before the given attention does it again | divided_by_d_head
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, memory @ W_k, memory @ W_v))
    q = q / math.sqrt(q.shape[-1])
    out = scaled_dot_product_attention(q, k, v, None if mask is None else mask.unsqueeze(1))
    return out.transpose(1, 2).flatten(2) @ W_o


# %% wrong | memory ignored + mask ignored (right for plain self-attention) | memory_ignored+mask_ignored
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, x @ W_k, x @ W_v))
    return scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2) @ W_o


# %% wrong | mask inverted + not unsqueezed | mask_inverted+masks_meet_heads
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    q, k, v = (y.unflatten(-1, (heads, -1)).transpose(1, 2) for y in (x @ W_q, memory @ W_k, memory @ W_v))
    out = scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)
    return out.transpose(1, 2).flatten(2) @ W_o


# %% wrong | forbidden scores become -10 | filled_with_ten
def multi_head_attention(x, memory, W_q, W_k, W_v, W_o, heads, mask=None):
    batch, queries, d_model = x.shape
    q = (x @ W_q).view(batch, queries, heads, -1).transpose(1, 2)
    k = (memory @ W_k).view(batch, memory.shape[1], heads, -1).transpose(1, 2)
    v = (memory @ W_v).view(batch, memory.shape[1], heads, -1).transpose(1, 2)
    scores = q @ k.mT / math.sqrt(d_model // heads)
    if mask is not None:
        scores = torch.where(mask[:, None], scores, -10.0)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape) @ W_o
