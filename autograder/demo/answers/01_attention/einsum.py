# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    scores = torch.einsum("wd,d->w", embeddings, embeddings[position])
    return torch.einsum("w,wd->d", scores.softmax(0), embeddings)


# %% attention.scores
def dot_product_scores(q, k):
    return torch.einsum("...qd,...kd->...qk", q, k)


# %% attention.scale
def scale_scores(scores, d_head):
    return torch.einsum("...,->...", scores, torch.tensor(d_head**-0.5, dtype=scores.dtype))


# %% attention.weights
def attention_weights(scaled):
    exps = torch.exp(scaled - scaled.max(dim=-1, keepdim=True).values)
    return torch.einsum("...k,...->...k", exps, 1 / torch.einsum("...k->...", exps))


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    alpha = torch.einsum("...qd,...kd->...qk", q, k).div(q.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("...qk,...kd->...qd", alpha, v)


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    return torch.einsum("sd,sd->s", q, k).var(unbiased=True)


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    alpha = scores.softmax(-1)
    delta = torch.eye(scores.shape[-1], dtype=scores.dtype)
    return torch.einsum("...i,ij->...ij", alpha, delta) - torch.einsum("...i,...j->...ij", alpha, alpha)


# %% attention.gradients
def attention_gradients(q, k, v, of_out):
    alpha = torch.einsum("...qd,...kd->...qk", q, k).div(q.shape[-1] ** 0.5).softmax(-1)
    of_alpha = torch.einsum("...qd,...kd->...qk", of_out, v)
    mean = torch.einsum("...qk,...qk->...q", alpha, of_alpha)[..., None]
    of_scores = alpha * (of_alpha - mean) / q.shape[-1] ** 0.5
    of_q, of_k = torch.einsum("...qk,...kd->...qd", of_scores, k), torch.einsum("...qk,...qd->...kd", of_scores, q)
    return of_q, of_k, torch.einsum("...qk,...qd->...kd", alpha, of_out)
