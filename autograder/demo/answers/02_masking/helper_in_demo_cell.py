# %% demo
def root(number):
    return math.sqrt(number)


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    # `root` stands in a cell that only draws a picture; nobody misses it until this is called.
    scaled = x @ x.transpose(-2, -1) / root(x.shape[-1])
    return torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1) @ x
