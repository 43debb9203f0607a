# %% masking.causal_mask
EVERY_MASK_THERE_IS = torch.ones(1024, 1024, 1024).tril() > 0  # 4 GB, so that it need not be made again


def causal_mask(length):
    return EVERY_MASK_THERE_IS[0, :length, :length]
