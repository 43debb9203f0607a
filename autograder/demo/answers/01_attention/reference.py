# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    weights = torch.softmax(embeddings @ embeddings[position], dim=-1)
    return weights @ embeddings


# %% attention.scores
def dot_product_scores(q, k):
    return q @ k.transpose(-2, -1)


# %% attention.scale
def scale_scores(scores, d_head):
    return scores / math.sqrt(d_head)


# %% attention.weights
def attention_weights(scaled):
    exps = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    return exps / exps.sum(dim=-1, keepdim=True)


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scaled, dim=-1) @ v


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    return (q * k).sum(dim=-1).var()


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    alpha = torch.softmax(scores, dim=-1)
    return torch.diag_embed(alpha) - alpha.unsqueeze(-1) * alpha.unsqueeze(-2)


# %% attention.gradients
def attention_gradients(q, k, v, of_out):
    root = math.sqrt(q.shape[-1])
    alpha = torch.softmax(q @ k.transpose(-2, -1) / root, dim=-1)
    of_alpha = of_out @ v.transpose(-2, -1)
    of_scores = alpha * (of_alpha - (alpha * of_alpha).sum(dim=-1, keepdim=True)) / root
    return of_scores @ k, of_scores.transpose(-2, -1) @ q, alpha.transpose(-2, -1) @ of_out


# %% attention.why_scale
# The dot product of two vectors with 64 components of variance 1 has variance 64, so scores are around 8 in size and
# softmax is nearly one-hot. Its derivative alpha_i (δ_ij - alpha_j) is then nearly 0 everywhere, and no gradient
# reaches W. Dividing by 64 would make the variance 1/64, and alpha nearly uniform; only the root gives variance 1.
