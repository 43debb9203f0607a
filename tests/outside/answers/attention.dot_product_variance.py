# %% right | half the mean squared difference of all pairs of samples
def dot_product_variance(q, k):
    dots = (q * k).sum(-1)
    n = dots.numel()
    return ((dots[:, None] - dots[None, :]) ** 2).sum() / (2 * n * (n - 1))


# %% wrong | means instead of sums over the dimensions: too small by d_head squared | mean_of_products
def dot_product_variance(q, k):
    return (q * k).mean(dim=-1).var()


# %% wrong | mean taken for 0: mean square over samples - 1 | mean_not_subtracted_unbiased
def dot_product_variance(q, k):
    dots = (q * k).sum(dim=-1)
    return (dots**2).sum() / (len(dots) - 1)


# %% wrong | queries compared with queries | queries_with_queries
def dot_product_variance(q, k):
    return (q * q).sum(dim=-1).var()


# %% wrong | standard deviation + biased | biased+standard_deviation
def dot_product_variance(q, k):
    return (q * k).sum(dim=-1).std(unbiased=False)


# %% wrong | all combinations + biased | biased+every_pair
def dot_product_variance(q, k):
    return (q @ k.T).var(unbiased=False)
