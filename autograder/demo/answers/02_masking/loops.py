# %% masking.causal_mask
def causal_mask(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        for key in range(query + 1):
            mask[query, key] = True
    return mask


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    rows = []
    for length in lengths.tolist():
        rows.append([position < length for position in range(max_length)])
    return torch.tensor(rows, device=lengths.device)


# %% masking.packed_mask
def packed_mask(ids, end):
    masks = []
    for sentence in ids.tolist():
        rows = []
        for query in range(len(sentence)):
            rows.append([key <= query and end not in sentence[key:query] for key in range(len(sentence))])
        masks.append(rows)
    return torch.tensor(masks, device=ids.device)


# %% masking.masked_weights
def masked_weights(scaled, mask):
    rows = scaled.reshape(-1, scaled.shape[-1])
    alpha = torch.zeros_like(rows)
    for i, allowed in enumerate(mask.expand_as(scaled).reshape(rows.shape)):
        if allowed.any():
            alpha[i, allowed] = torch.softmax(rows[i, allowed], dim=0)
    return alpha.reshape(scaled.shape)


# %% masking.leak_test
def leak_test(model, x):
    seen = torch.zeros(len(x), len(x), dtype=torch.bool)
    for output in range(len(x)):
        for token in range(len(x)):
            changed = x.clone()
            for number in range(x.shape[1]):
                changed[token, number] = x[token, number] + number + 1
            for a, b in zip(model(changed)[output], model(x)[output]):
                if a != b:
                    seen[output, token] = True
    return seen


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    if x.ndim > 2:
        masks = mask.expand(*x.shape[:-1], x.shape[-2])
        return torch.stack([masked_self_attention(one, m) for one, m in zip(x, masks)])
    rows = []
    for i in range(len(x)):
        keys = [j for j in range(len(x)) if mask[i, j]]
        scaled = [torch.dot(x[i], x[j]) / math.sqrt(x.shape[-1]) for j in keys]
        exps = [torch.exp(score - max(scaled)) for score in scaled]
        rows.append(sum(e / sum(exps) * x[j] for e, j in zip(exps, keys)))
    return torch.stack(rows)


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.ones(d_model))

    def forward(self, x, mask):
        sentences = []
        for sentence, allowed in zip(x, mask):
            words = [word for word, here in zip(sentence, allowed) if here]
            scaled = [word @ self.query / math.sqrt(len(word)) for word in words]
            exps = [torch.exp(score - max(scaled)) for score in scaled]
            sentences.append(sum(e / sum(exps) * word for e, word in zip(exps, words)))
        return torch.stack(sentences)
