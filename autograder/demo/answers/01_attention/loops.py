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


# %% attention.gradients
def attention_gradients(q, k, v, of_out):
    of_q, of_k, of_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for i in range(q.shape[-2]):
        alpha = torch.softmax((q[..., i, None, :] * k).sum(-1) / q.shape[-1] ** 0.5, -1)
        of_alpha = (of_out[..., i, None, :] * v).sum(-1)
        mean = (alpha * of_alpha).sum(-1)
        for j in range(k.shape[-2]):
            of_score = (alpha[..., j] * (of_alpha[..., j] - mean) / q.shape[-1] ** 0.5)[..., None]
            of_q[..., i, :] += of_score * k[..., j, :]
            of_k[..., j, :] += of_score * q[..., i, :]
            of_v[..., j, :] += alpha[..., j, None] * of_out[..., i, :]
    return of_q, of_k, of_v
