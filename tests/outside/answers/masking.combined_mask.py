# %% right | De Morgan
def combined_mask(causal, padding):
    future = ~causal
    dots = ~padding
    return ~(future[None] | dots[:, None])


# %% wrong | squeezed: a batch of one loses its dimension
def combined_mask(causal, padding):
    return (causal & padding.unsqueeze(1)).squeeze(0)


# %% wrong | exclusive or instead of and | exactly_one
def combined_mask(causal, padding):
    return causal ^ padding.unsqueeze(-2)


# %% wrong | both taken as True where forbidden | both_inverted
def combined_mask(causal, padding):
    return ~causal & ~padding.unsqueeze(1)


# %% wrong | causal mask transposed (S3) | causal_turned
def combined_mask(causal, padding):
    return causal.T & padding.unsqueeze(1)


# %% wrong | a dimension for heads [batch, 1, queries, keys] | heads_as_well
def combined_mask(causal, padding):
    return causal & padding[:, None, None, :]


# %% wrong | queries instead of keys + or | either_is_enough+padding_of_the_queries
def combined_mask(causal, padding):
    return causal | padding.unsqueeze(-1)


# %% wrong | float + queries instead of keys | padding_of_the_queries+zeros_and_ones
def combined_mask(causal, padding):
    return causal.float() * padding.float().unsqueeze(-1)
