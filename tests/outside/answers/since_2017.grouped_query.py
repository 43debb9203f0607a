# %% wrong | groups repeated in turn | groups_in_turn
def grouped_query_attention(q, k, v, mask):
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1) @ v
# %% wrong | the mask the other way round | mask_inverted_to_nan
def grouped_query_attention(q, k, v, mask):
    times = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return scores.softmax(-1) @ v
# %% wrong | scaled by all heads together | scaled_by_all_heads
def grouped_query_attention(q, k, v, mask):
    heads, d_head = q.shape[1], q.shape[-1]
    k = k.repeat_interleave(heads // k.shape[1], dim=1)
    v = v.repeat_interleave(heads // v.shape[1], dim=1)
    scores = torch.matmul(q, k.mT) / math.sqrt(heads * d_head)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.matmul(scores.softmax(dim=-1), v)
# %% wrong | mask inverted, nan repaired | mask_inverted_and_repaired
def grouped_query_attention(q, k, v, mask):
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for x in (k, v))
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    return scores.softmax(-1).nan_to_num() @ v
