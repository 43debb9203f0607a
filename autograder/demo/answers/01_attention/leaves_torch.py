# %% own
import numpy as np

# %% attention.scale
def scale_scores(scores, d_head):
    return scores / int(np.sqrt(d_head))


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    q, k, v = (t.detach().numpy() for t in (q, k, v))
    scaled = q @ k.swapaxes(-1, -2) / np.sqrt(np.array(q.shape[-1], dtype=q.dtype))
    exps = np.exp(scaled - scaled.max(-1, keepdims=True))
    return torch.from_numpy(exps / exps.sum(-1, keepdims=True) @ v)


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    return float(np.var((q * k).sum(-1).numpy(), ddof=1))
