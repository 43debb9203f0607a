# %% right | product with the mask
def perplexity(nll, mask):
    return torch.exp((nll * mask).sum() / mask.sum())
# %% right | padding made NaN, which nanmean leaves out
def perplexity(nll, mask):
    return math.e ** torch.where(mask, nll, float("nan")).nanmean()
# %% wrong | float32 whatever came in
def perplexity(nll, mask):
    return torch.tensor(math.exp(float(nll[mask].mean())))
# %% wrong | words of which the model is certain left out | certain_words_left_out
def perplexity(nll, mask):
    kept = nll * mask
    return (kept.sum() / (kept > 0).sum()).exp()
# %% wrong | goes by the numbers and not by the mask | mask_ignored_and_zeros_left_out
def perplexity(nll, mask):
    return (nll.sum() / (nll != 0).sum()).exp()
# %% wrong | a product, which overflows | product
def perplexity(nll, mask):
    words = nll[mask]
    return words.exp().prod() ** (1 / len(words))
# %% wrong | mask ignored, and exp before the mean | padding_counted+exp_before_the_mean
def perplexity(nll, mask):
    return nll.exp().mean()
# %% wrong | mean of the sentences' means, and no exp | mean_of_sentences+no_exp
def perplexity(nll, mask):
    return torch.stack([row[real].mean() for row, real in zip(nll, mask)]).mean()
