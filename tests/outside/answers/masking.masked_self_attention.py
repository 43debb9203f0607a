# %% right | word by word (beginner's loops over a flattened batch)
def masked_self_attention(x, mask):
    words, d_model = x.shape[-2], x.shape[-1]
    sentences = x.reshape(-1, words, d_model)
    masks = mask.expand(*x.shape[:-1], words).reshape(-1, words, words)
    outputs = []
    for b in range(len(sentences)):
        for i in range(words):
            visible = sentences[b][masks[b, i]]
            scores = (visible * sentences[b, i]).sum(dim=1) / math.sqrt(d_model)
            weights = torch.softmax(scores, dim=0)
            outputs.append((weights.unsqueeze(1) * visible).sum(dim=0))
    return torch.stack(outputs).reshape(x.shape)


# %% wrong | both x divided by the root, so scaled twice | divided_by_d_model
def masked_self_attention(x, mask):
    q = x / math.sqrt(x.shape[-1])
    return torch.softmax((q @ q.transpose(-2, -1)).masked_fill(~mask, -math.inf), dim=-1) @ x


# %% wrong | -1000 added to the forbidden scores: leaks when a forbidden score is 1000 or more above the allowed ones (large x) | added_not_enough
def masked_self_attention(x, mask):
    scaled = x @ x.transpose(-2, -1) / math.sqrt(x.shape[-1])
    return torch.softmax(scaled - 1000.0 * (~mask), dim=-1) @ x


# %% wrong | masks by index: only a mask of the full shape
def masked_self_attention(x, mask):
    scaled = x @ x.transpose(-2, -1) / math.sqrt(x.shape[-1])
    scaled[~mask] = -math.inf
    return torch.softmax(scaled, dim=-1) @ x


# %% wrong | bare exp: overflows for scores above 88 | exp_overflows
def masked_self_attention(x, mask):
    A = mask * torch.exp(x @ x.transpose(-2, -1) / math.sqrt(x.shape[-1]))
    return A / A.sum(dim=-1, keepdim=True) @ x


# %% wrong | multiplied by the root instead of divided | multiplied_by_the_root
def masked_self_attention(x, mask):
    scaled = x @ x.transpose(-2, -1) * math.sqrt(x.shape[-1])
    return torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1) @ x


# %% wrong | not scaled + softmax over the queries | unscaled_scores_masked+softmax_over_queries
def masked_self_attention(x, mask):
    masked = (x @ x.transpose(-2, -1)).masked_fill(~mask, -1e9)
    return torch.softmax(masked, dim=-2) @ x


# %% wrong | not scaled + scores times mask | unscaled_scores_masked+scores_times_mask
def masked_self_attention(x, mask):
    return torch.softmax(x @ x.transpose(-2, -1) * mask, dim=-1) @ x
# %% wrong | mask inverted, nan repaired | inverted_and_repaired
def masked_self_attention(x, mask):
    scores = x @ x.mT / math.sqrt(x.shape[-1])
    return torch.nan_to_num(torch.softmax(scores.masked_fill(mask, -math.inf), dim=-1)) @ x


# %% wrong | forbidden scores become -20 | filled_with_twenty
def masked_self_attention(x, mask):
    scores = x @ x.transpose(-2, -1) / x.shape[-1] ** 0.5
    scores = torch.where(mask, scores, torch.tensor(-20.0, dtype=x.dtype))
    return torch.softmax(scores, dim=-1) @ x
