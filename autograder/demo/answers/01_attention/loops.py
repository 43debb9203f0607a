# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    exps = [torch.exp(torch.dot(word, embeddings[position])) for word in embeddings]
    total = sum(exps)
    result = torch.zeros_like(embeddings[0])
    for e, word in zip(exps, embeddings):
        result = result + e / total * word
    return result


# %% attention.scores
def dot_product_scores(q, k):
    scores = torch.zeros(*q.shape[:-1], k.shape[-2], dtype=q.dtype)
    for i in range(q.shape[-2]):
        for j in range(k.shape[-2]):
            for d in range(q.shape[-1]):
                scores[..., i, j] += q[..., i, d] * k[..., j, d]
    return scores


# %% attention.scale
def scale_scores(scores, d_head):
    scaled = scores.clone()
    for i in range(scores.shape[-2]):
        for j in range(scores.shape[-1]):
            scaled[..., i, j] /= math.sqrt(d_head)
    return scaled


# %% attention.weights
def attention_weights(scaled):
    alpha = torch.empty_like(scaled)
    for i in range(scaled.shape[-2]):
        row = scaled[..., i, :]
        largest = row[..., 0]
        for j in range(1, row.shape[-1]):
            largest = torch.maximum(largest, row[..., j])
        exps = [torch.exp(row[..., j] - largest) for j in range(row.shape[-1])]
        for j, e in enumerate(exps):
            alpha[..., i, j] = e / sum(exps)
    return alpha


# %% attention.output
def weighted_values(alpha, v):
    out = torch.zeros(*alpha.shape[:-1], v.shape[-1], dtype=v.dtype)
    for i in range(alpha.shape[-2]):
        for j in range(v.shape[-2]):
            out[..., i, :] += alpha[..., i, j, None] * v[..., j, :]
    return out


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    rows = []
    for i in range(q.shape[-2]):
        scaled = [(q[..., i, :] * k[..., j, :]).sum(-1) / math.sqrt(q.shape[-1]) for j in range(k.shape[-2])]
        exps = [torch.exp(s) for s in scaled]
        rows.append(sum((e / sum(exps))[..., None] * v[..., j, :] for j, e in enumerate(exps)))
    return torch.stack(rows, dim=-2)


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    dots = [sum(q[s, d] * k[s, d] for d in range(q.shape[1])) for s in range(q.shape[0])]
    mean = sum(dots) / len(dots)
    return sum((dot - mean) ** 2 for dot in dots) / (len(dots) - 1)


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    alpha = torch.softmax(scores, dim=-1)
    n = scores.shape[-1]
    jacobian = torch.zeros(*scores.shape, n, dtype=scores.dtype)
    for i in range(n):
        for j in range(n):
            if i == j:
                jacobian[..., i, j] = alpha[..., i] * (1 - alpha[..., i])
            else:
                jacobian[..., i, j] = -alpha[..., i] * alpha[..., j]
    return jacobian
