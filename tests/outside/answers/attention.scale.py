# %% right | through logarithms
def scale_scores(scores, d_head):
    return scores * math.exp(-0.5 * math.log(d_head))


# %% wrong | root rounded to the nearest integer: right for square numbers only | root_rounded
def scale_scores(scores, d_head):
    return scores / round(math.sqrt(d_head))


# %% wrong | a softmax already | softmax_too_early
def scale_scores(scores, d_head):
    return torch.softmax(scores / math.sqrt(d_head), dim=-1)


# %% wrong | d_head without the root + multiplied | divided_by_d_head+multiplied
def scale_scores(scores, d_head):
    return scores * d_head


# %% wrong | number of keys + softmax (the slide's alpha) | divided_by_number_of_keys+softmax_too_early
def scale_scores(scores, d_head):
    return torch.softmax(scores / scores.shape[-1], dim=-1)
# %% wrong | by the root of the number of keys | root_of_number_of_keys
def scale_scores(scores, d_head):
    return scores / math.sqrt(scores.shape[-1])
# %% wrong | integer root | root_cut_to_an_integer
def scale_scores(scores, d_head):
    return scores / math.isqrt(d_head)
