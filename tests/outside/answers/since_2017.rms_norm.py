# %% wrong | epsilon beside the root | epsilon_outside_the_root
def rms_norm(x, gamma, epsilon):
    rms = x.pow(2).mean(dim=-1, keepdim=True).sqrt()
    return gamma * x / (rms + epsilon)
# %% wrong | the mean is subtracted as well | layer_norm
def rms_norm(x, gamma, epsilon):
    centred = x - x.mean(dim=-1, keepdim=True)
    return gamma * centred / torch.sqrt(centred.pow(2).mean(dim=-1, keepdim=True) + epsilon)
# %% wrong | sum of the squares | sum_for_mean
def rms_norm(x, gamma, epsilon):
    return gamma * x / torch.sqrt((x * x).sum(dim=-1, keepdim=True) + epsilon)
# %% wrong | gamma forgotten | gamma_left_out
def rms_norm(x, gamma, epsilon):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)
# %% wrong | norm over the root of d, plus epsilon | epsilon_added_to_norm
def rms_norm(x, gamma, epsilon):
    return gamma * x / (x.norm(dim=-1, keepdim=True) / math.sqrt(x.shape[-1]) + epsilon)
