# %% right | torch.prod and pow in float64
def bleu(precisions, penalty):
    p = torch.as_tensor(precisions, dtype=torch.double)
    return float(p.prod().pow(1 / p.numel()) * penalty)
# %% wrong | equal precisions count once (set); shows for (1, 0.5, 0.5), not if all are equal or all different | equal_ones_counted_once
def bleu(precisions, penalty):
    return penalty * math.prod(set(precisions)) ** (1 / len(set(precisions)))
# %% wrong | a small precision is taken for 0 (< 0.01)
def bleu(precisions, penalty):
    if min(precisions) < 0.01:
        return 0.0
    return penalty * math.exp(sum(math.log(p) for p in precisions) / len(precisions))
# %% wrong | no penalty where it is 0 (`penalty or 1`)
def bleu(precisions, penalty):
    return (penalty or 1.0) * math.prod(precisions) ** (1 / len(precisions))
# %% wrong | arithmetic mean + the penalty forgotten | arithmetic_mean+penalty_forgotten
def bleu(precisions, penalty):
    return sum(precisions) / len(precisions)
# %% wrong | no root + in percent | root_forgotten+in_percent
def bleu(precisions, penalty):
    return 100 * penalty * math.prod(precisions)
