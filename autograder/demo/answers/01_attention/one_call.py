# %% own
import torch.nn.functional as F

# %% attention.weights
def attention_weights(scaled):
    return F.softmax(scaled, dim=-1)


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    if scores.ndim > 1:
        return torch.stack([softmax_jacobian(row) for row in scores])
    return torch.autograd.functional.jacobian(lambda s: s.softmax(0), scores)
