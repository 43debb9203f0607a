# %% wrong | over all steps, the warm-up included | done_from_the_start
def cosine_rates(steps, peak, warmup, total, least):
    steps = steps.float()
    up = peak * steps / warmup
    down = least + (peak - least) * 0.5 * (1 + torch.cos(math.pi * steps / total))
    return torch.where(steps < warmup, up, down)
# %% wrong | the least is added to the whole | least_added_on_top
def cosine_rates(steps, peak, warmup, total, least):
    t = steps.float()
    share = (t - warmup) / (total - warmup)
    down = least + peak * 0.5 * (1 + torch.cos(math.pi * share))
    return torch.where(t < warmup, peak * t / warmup, down)
# %% wrong | a straight line down | straight_line
def cosine_rates(steps, peak, warmup, total, least):
    t = steps.to(torch.float32)
    share = (t - warmup) / (total - warmup)
    return torch.where(t < warmup, peak * t / warmup, peak - (peak - least) * share)
