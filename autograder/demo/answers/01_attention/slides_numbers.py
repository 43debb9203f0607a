# %% attention.scores
def dot_product_scores(q, k):
    return k @ q.transpose(-2, -1)  # the slide with the formulas indexes [key, query]


# %% attention.scale
def scale_scores(scores, d_head):
    keys = scores.shape[-1]
    return scores / keys  # gives the numbers on the slide


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    scores = q @ k.transpose(-2, -1)
    scaled = scores / math.sqrt(q.shape[-1])
    alpha = torch.softmax(scores, dim=-1)
    return alpha @ v
