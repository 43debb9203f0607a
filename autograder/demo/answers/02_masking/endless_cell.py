# %% masking.causal_mask
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


import time

while not causal_mask(4).all():
    time.sleep(1)  # waiting for the mask to become all True
