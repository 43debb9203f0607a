# %% masking.padding_mask
def padding_mask(lengths, max_length):
    return torch.arange(max_length) <= lengths.unsqueeze(-1)


# %% masking.masked_weights
def masked_weights(scaled, mask):
    return torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)


# %% masking.leak_test
def leak_test(model, x):
    before = model(x)
    seen = torch.zeros(len(x), len(x), dtype=torch.bool)
    for token in range(len(x)):
        changed = x.clone()
        changed[token] *= 2
        seen[:, token] = (model(changed) != before).any(dim=-1)
    return seen
