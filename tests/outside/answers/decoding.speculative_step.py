# %% right | vectorised, with a cumulative product
def speculative_step(drafted, draft, target, chances):
    n = len(drafted)
    i = torch.arange(n)
    ok = chances < torch.clamp(target[i, drafted] / draft[i, drafted], max=1)
    kept = int(ok.int().cumprod(0).sum())
    if kept == n:
        return kept, target[n]
    left = torch.relu(target[kept] - draft[kept])
    return kept, left / left.sum()
# %% right | with a counter and a break
def speculative_step(drafted, draft, target, chances):
    count = 0
    for t in drafted:
        if chances[count] * draft[count][t] < target[count][t]:
            count += 1
        else:
            break
    if count < len(drafted):
        rest = torch.maximum(target[count] - draft[count], torch.tensor(0.0))
        return count, rest / torch.sum(rest)
    return count, target[count]
# %% wrong | resamples from the target itself | drawn_from_the_target
def speculative_step(drafted, draft, target, chances):
    for i, t in enumerate(drafted):
        if chances[i] > target[i, t] / draft[i, t]:
            return i, target[i]
    return len(drafted), target[-1]
# %% wrong | not normalised | not_normalised
def speculative_step(drafted, draft, target, chances):
    for i, t in enumerate(drafted):
        if chances[i] > target[i, t] / draft[i, t]:
            return i, (target[i] - draft[i]).clamp(min=0)
    return len(drafted), target[-1]
# %% wrong | upside down | ratio_inverted
def speculative_step(drafted, draft, target, chances):
    for i, t in enumerate(drafted):
        if chances[i] > draft[i, t] / target[i, t]:
            left = (target[i] - draft[i]).clamp(min=0)
            return i, left / left.sum()
    return len(drafted), target[-1]
# %% wrong | counts all that pass, without stopping | goes_on
def speculative_step(drafted, draft, target, chances):
    i = torch.arange(len(drafted))
    ok = chances < target[i, drafted] / draft[i, drafted]
    if ok.all():
        return len(drafted), target[-1]
    first = int((~ok).int().argmax())
    left = (target[first] - draft[first]).clamp(min=0)
    return int(ok.sum()), left / left.sum()
# %% wrong | the row before the last | row_before_the_last
def speculative_step(drafted, draft, target, chances):
    for i, t in enumerate(drafted):
        if chances[i] > target[i, t] / draft[i, t]:
            left = (target[i] - draft[i]).clamp(min=0)
            return i, left / left.sum()
    return len(drafted), target[len(drafted) - 1]
# %% wrong | the absolute difference | size_of_the_difference
def speculative_step(drafted, draft, target, chances):
    for i, t in enumerate(drafted):
        if chances[i] > target[i, t] / draft[i, t]:
            left = (target[i] - draft[i]).abs()
            return i, left / left.sum()
    return len(drafted), target[-1]
