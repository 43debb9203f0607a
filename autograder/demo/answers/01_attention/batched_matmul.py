# %% own
def as_batch(x):
    """Any leading dimensions as one, because torch.bmm wants exactly three."""
    return x.reshape(-1, *x.shape[-2:])


# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    query = embeddings[position].view(1, 1, -1)
    keys = embeddings.unsqueeze(0)
    alpha = torch.bmm(query, keys.transpose(1, 2)).softmax(dim=2)
    return torch.bmm(alpha, keys).view(-1)


# %% attention.scores
def dot_product_scores(q, k):
    return torch.bmm(as_batch(q), as_batch(k).transpose(1, 2)).view(*q.shape[:-1], k.shape[-2])


# %% attention.scale
def scale_scores(scores, d_head):
    return scores * d_head**-0.5


# %% attention.weights
def attention_weights(scaled):
    rows = as_batch(scaled)
    exps = (rows - rows.amax(2, keepdim=True)).exp()
    ones = torch.ones(len(exps), exps.shape[2], 1, dtype=exps.dtype)
    return (exps / torch.bmm(exps, ones)).view(scaled.shape)


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    scaled = torch.bmm(as_batch(q), as_batch(k).transpose(1, 2)) / math.sqrt(q.shape[-1])
    return torch.bmm(scaled.softmax(dim=2), as_batch(v)).view(*q.shape[:-1], v.shape[-1])


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    return torch.bmm(q.unsqueeze(1), k.unsqueeze(2)).var()


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    alpha = scores.softmax(dim=-1).reshape(-1, scores.shape[-1])
    jacobian = torch.diag_embed(alpha) - torch.bmm(alpha.unsqueeze(2), alpha.unsqueeze(1))
    return jacobian.view(*scores.shape, scores.shape[-1])


# %% attention.gradients
def attention_gradients(q, k, v, of_out):
    q_, k_, v_, out_ = map(as_batch, (q, k, v, of_out))
    alpha = (torch.bmm(q_, k_.transpose(1, 2)) / math.sqrt(q.shape[-1])).softmax(dim=2)
    of_alpha = torch.bmm(out_, v_.transpose(1, 2))
    of_scores = alpha * (of_alpha - (alpha * of_alpha).sum(dim=2, keepdim=True)) / math.sqrt(q.shape[-1])
    of_k, of_v = torch.bmm(of_scores.transpose(1, 2), q_), torch.bmm(alpha.transpose(1, 2), out_)
    return torch.bmm(of_scores, k_).view(q.shape), of_k.view(k.shape), of_v.view(v.shape)
