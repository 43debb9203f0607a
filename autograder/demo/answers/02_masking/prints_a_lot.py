# %% masking.masked_weights
def masked_weights(scaled, mask):
    import sys

    print("scaled is", f"{scaled} " * 10_000, file=sys.stderr)
    return torch.softmax(scaled.masked_fill(~mask, -1e9), dim=-1) * mask


# %% masking.packed_mask
def packed_mask(ids, end):
    closing = (ids == end).long()
    number = closing.cumsum(dim=1) - closing
    tokens = ids.shape[1]
    earlier = torch.ones(tokens, tokens, dtype=torch.bool, device=ids.device).tril()
    return earlier & (number[:, :, None] == number[:, None, :])


for line in range(300_000):
    print("mask", line)
display("v" * 100_000_000)
