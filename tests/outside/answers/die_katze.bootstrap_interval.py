# %% wrong | sorted and cut at whole places | whole_places
def bootstrap_interval(counts, drawn, score):
    scores = sorted(score(counts[sample].sum(dim=0)) for sample in drawn)
    n = len(scores)
    return scores[int(0.025 * n)], scores[min(n - 1, int(0.975 * n))]
# %% wrong | 5 % and 95 % | ninety_percent
def bootstrap_interval(counts, drawn, score):
    scores = torch.tensor([score(counts[sample].sum(0)) for sample in drawn], dtype=torch.float64)
    low, high = torch.quantile(scores, torch.tensor([0.05, 0.95], dtype=torch.float64))
    return low.item(), high.item()
# %% wrong | the sum over kinds
def bootstrap_interval(counts, drawn, score):
    scores = torch.tensor([score(counts[sample].sum(-1)) for sample in drawn], dtype=torch.float64)
    return torch.quantile(scores, 0.025).item(), torch.quantile(scores, 0.975).item()
# %% wrong | mean plus and minus 1.96 deviations | by_the_deviation
def bootstrap_interval(counts, drawn, score):
    scores = torch.tensor([score(counts[sample].sum(0)) for sample in drawn], dtype=torch.float64)
    mean, deviation = scores.mean(), scores.std()
    return (mean - 1.96 * deviation).item(), (mean + 1.96 * deviation).item()
# %% wrong | the means of the counts | means_of_counts
def bootstrap_interval(counts, drawn, score):
    scores = torch.tensor([score(s) for s in counts[drawn].double().mean(dim=1)], dtype=torch.float64)
    return torch.quantile(scores, 0.025).item(), torch.quantile(scores, 0.975).item()
