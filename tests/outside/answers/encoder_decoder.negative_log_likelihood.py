# %% right | a boolean mask of the right words
def negative_log_likelihood(log_p, expected):
    is_right = torch.arange(log_p.shape[-1], device=log_p.device) == expected.unsqueeze(-1)
    return -log_p[is_right].mean()
# %% right | cross_entropy, which takes another softmax of what is normalised already
def negative_log_likelihood(log_p, expected):
    return F.cross_entropy(log_p.reshape(-1, log_p.shape[-1]), expected.reshape(-1))
# %% wrong | through the probabilities, which underflow | through_the_probabilities
def negative_log_likelihood(log_p, expected):
    p = log_p.exp().gather(-1, expected.unsqueeze(-1))
    return -p.log().mean()
# %% wrong | logarithm of the product in double precision, which underflows, too | through_the_probabilities
def negative_log_likelihood(log_p, expected):
    p = log_p.double().gather(-1, expected.unsqueeze(-1)).exp()
    return (-p.prod().log() / expected.numel()).to(log_p.dtype)
# %% wrong | mean of minus the probabilities | probability
def negative_log_likelihood(log_p, expected):
    return -log_p.exp().gather(-1, expected.unsqueeze(-1)).mean()
# %% wrong | divided by the length of the first dimension | divided_by_the_first_dimension
def negative_log_likelihood(log_p, expected):
    return -log_p.gather(-1, expected.unsqueeze(-1)).sum() / len(expected)
# %% wrong | no minus, and in bits | not_negated+in_bits
def negative_log_likelihood(log_p, expected):
    picked = torch.take_along_dim(log_p, expected[..., None], dim=-1)
    return (picked / math.log(2)).mean()
# %% wrong | no minus, and a sum | not_negated+summed
def negative_log_likelihood(log_p, expected):
    return log_p.gather(-1, expected.unsqueeze(-1)).sum()
