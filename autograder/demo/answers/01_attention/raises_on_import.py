# %% attention.weights
from torch.nn.functional import exp_over_sum  # there is no such function


def attention_weights(scaled):
    return exp_over_sum(scaled - scaled.amax(dim=-1, keepdim=True))
