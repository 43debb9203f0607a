# %% own
import torch.nn.functional as F

# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    weights = F.softmax(F.linear(embeddings[position], embeddings), dim=0)
    return F.linear(weights, embeddings.T)


# %% attention.scores
def dot_product_scores(q, k):
    return torch.matmul(q, k.swapaxes(-1, -2))


# %% attention.scale
def scale_scores(scores, d_head):
    return torch.div(scores, torch.tensor(d_head, dtype=scores.dtype).sqrt())


# %% attention.weights
def attention_weights(scaled):
    return torch.exp(scaled - torch.logsumexp(scaled, dim=-1, keepdim=True))


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    # The gentle way: everything but the one function that would do it all.
    alpha = F.softmax(torch.matmul(q, k.mT).mul(q.size(-1) ** -0.5), dim=-1)
    return torch.matmul(F.dropout(alpha, 0.1, training=False), v)


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    return torch.cov(torch.linalg.vecdot(q, k))


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    alpha = F.softmax(scores, dim=-1)
    return torch.diag_embed(alpha).sub(torch.matmul(alpha[..., :, None], alpha[..., None, :]))


# %% attention.gradients
def attention_gradients(q, k, v, of_out):
    alpha = F.softmax(torch.matmul(q, k.mT).mul(q.size(-1) ** -0.5), dim=-1)
    of_alpha = torch.matmul(of_out, v.mT)
    of_scores = torch.mul(alpha, of_alpha.sub(torch.mul(alpha, of_alpha).sum(-1, keepdim=True))).mul(q.size(-1) ** -0.5)
    return torch.matmul(of_scores, k), torch.matmul(of_scores.mT, q), torch.matmul(alpha.mT, of_out)
