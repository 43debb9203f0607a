# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]
    return torch.softmax(scaled, dim=-1) @ v
