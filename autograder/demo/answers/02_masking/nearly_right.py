# %% masking.padding_mask
def padding_mask(lengths, max_length):
    return torch.arange(max_length) <= lengths.unsqueeze(-1)


# %% masking.masked_weights
def masked_weights(scaled, mask):
    return torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)


# %% masking.multiplicative_weights
def multiplicative_weights(scaled, mask):
    kept = torch.exp(scaled) * mask
    return kept / kept.sum(dim=-1, keepdim=True)
