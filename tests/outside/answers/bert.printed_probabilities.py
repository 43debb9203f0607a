# %% wrong | the right probabilities | as_it_should_be
def printed_probabilities(scores):
    return scores.exp() / scores.exp().sum(dim=1, keepdim=True)
# %% wrong | the sum of all | one_sum_for_all
def printed_probabilities(scores):
    e = torch.exp(scores)
    return e / e.sum()
# %% wrong | both ways, one after the other | both_ways
def printed_probabilities(scores):
    return torch.softmax(scores.softmax(dim=1), dim=0)
# %% wrong | scores without exp | without_exp
def printed_probabilities(scores):
    return scores / scores.sum(dim=0)
# %% wrong | the class sums stand in the rows | sums_beside_the_rows
def printed_probabilities(scores):
    e = scores.exp()
    return e / e.sum(dim=0).unsqueeze(1)
