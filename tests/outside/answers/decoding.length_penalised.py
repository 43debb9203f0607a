# %% right | exp of a logarithm
def length_penalised(log_probability, length, alpha):
    base = torch.log(5 + length.to(log_probability)) - math.log(6)
    return log_probability * torch.exp(-alpha * base)
# %% wrong | precedence: exponent on the whole quotient | score_raised
def length_penalised(log_probability, length, alpha):
    n = length.to(log_probability.dtype)
    return (log_probability / ((5 + n) / 6)) ** alpha
# %% wrong | without <e>: length - 1 | end_not_counted
def length_penalised(log_probability, length, alpha):
    n = length.to(log_probability.dtype)
    penalty = ((5 + n - 1) / 6) ** alpha
    return log_probability / penalty
# %% wrong | float32 inside on purpose, result converted back
def length_penalised(log_probability, length, alpha):
    score = log_probability.float() / ((5 + length.float()) / 6) ** alpha
    return score.to(log_probability.dtype)
# %% wrong | length converted to int8: wrong for sentences of more than 122 words
def length_penalised(log_probability, length, alpha):
    n = length.to(torch.int8) + 5
    penalty = (n.to(log_probability.dtype) / 6) ** alpha
    return log_probability / penalty
# %% wrong | alpha 0 treated as 'not given' and replaced by 0.6 | alpha_of_the_paper_for_0
def length_penalised(log_probability, length, alpha):
    alpha = alpha or 0.6
    n = length.to(log_probability.dtype)
    penalty = ((5 + n) / 6) ** alpha
    return log_probability / penalty
# %% wrong | multiplied + length without <e> | multiplied+end_not_counted
def length_penalised(log_probability, length, alpha):
    n = length.to(log_probability.dtype)
    penalty = ((5 + n - 1) / 6) ** alpha
    return log_probability * penalty
# %% wrong | whole numbers divided in single precision | single_precision
def length_penalised(log_probability, length, alpha):
    return log_probability / ((5 + length) / 6) ** alpha
