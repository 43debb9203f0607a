# %% demo
half = 0.5
root = math.sqrt

# %% attention.scale
power = -half  # the cell with `half` only draws a picture, and isn't run unless it turns out to be needed


def scale_scores(scores, d_head):
    return scores * d_head**power


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / root(q.shape[-1]), dim=-1) @ v
