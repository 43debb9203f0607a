# %% draft masking.masked_weights
def masked_weights(scaled, mask):
    return torch.softmax(scaled * mask, dim=-1)
