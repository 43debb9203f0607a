# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    weights = torch.softmax(embeddings @ embeddings.T, dim=0)
    return weights[position] @ embeddings


# %% attention.scores
def dot_product_scores(q, k):
    return k @ q.transpose(-2, -1)


# %% attention.weights
def attention_weights(scaled):
    exps = torch.exp(scaled - scaled.amax(dim=-2, keepdim=True))
    return exps / exps.sum(dim=-2, keepdim=True)


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scaled, dim=1) @ v


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    return (q * k).sum(dim=0).var()


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    alpha = torch.softmax(scores, dim=0)
    return torch.diag_embed(alpha) - alpha[..., :, None] * alpha[..., None, :]
