# %% masking.masked_weights
def masked_weights(scaled, mask):
    import sys

    print("scaled is", f"{scaled} " * 10_000, file=sys.stderr)
    return torch.softmax(scaled.masked_fill(~mask, -1e9), dim=-1) * mask


# %% masking.combined_mask
def combined_mask(causal, padding):
    return causal & padding.unsqueeze(-2)


for line in range(300_000):
    print("mask", line)
display("v" * 100_000_000)
