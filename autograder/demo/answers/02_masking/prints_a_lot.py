# %% masking.masked_weights
def masked_weights(scaled, mask):
    import sys

    for i in range(20_000):
        print("scaled", scaled, i, file=sys.stderr)
    return torch.softmax(scaled.masked_fill(~mask, -1e9), dim=-1) * mask


# %% masking.combined_mask
def combined_mask(causal, padding):
    return causal & padding.unsqueeze(-2)


for line in range(2_000_000):
    print("mask", line)
display("v" * 50_000_000)
