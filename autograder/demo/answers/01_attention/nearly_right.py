# %% attention.weights
def attention_weights(scaled):
    return torch.exp(scaled) / torch.exp(scaled).sum(dim=-1, keepdim=True)


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    dots = (q * k).sum(dim=-1)
    return ((dots - dots.mean()) ** 2).mean()


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    alpha = torch.softmax(scores, dim=-1)
    return torch.diag_embed(alpha * (1 - alpha))
