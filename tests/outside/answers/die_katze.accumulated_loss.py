# %% wrong | mean of the means, NaN left out | mean_of_means
def accumulated_loss(means, targets):
    return means[targets > 0].mean()
# %% wrong | NaN times 0 | nan_times_nothing
def accumulated_loss(means, targets):
    return (means * targets).sum() / targets.sum()
# %% wrong | weighted sum is divided by the number of batches | over_batches
def accumulated_loss(means, targets):
    weighted = torch.where(targets > 0, means * targets, torch.zeros_like(means))
    return weighted.sum() / len(means)
