# %% wrong | view instead of transpose: rows torn | view_for_transpose
def tied_logits(states, embedding):
    return states @ embedding.reshape(embedding.shape[1], embedding.shape[0])
# %% wrong | transposed back by reshape: numbers torn | reshaped_back
def tied_logits(states, embedding):
    return (embedding @ states.transpose(-1, -2)).reshape(*states.shape[:-1], embedding.shape[0])
# %% wrong | the largest logit subtracted for stability | largest_subtracted
def tied_logits(states, embedding):
    logits = states @ embedding.T
    return logits - logits.max(dim=-1, keepdim=True).values
# %% wrong | scaled + softmax (attention) | softmax_taken+scaled
def tied_logits(states, embedding):
    return torch.softmax(states @ embedding.T / math.sqrt(states.shape[-1]), dim=-1)
# %% wrong | view for transpose + detached
def tied_logits(states, embedding):
    return states @ embedding.detach().view(states.shape[-1], -1)
# %% wrong | a new nn.Linear with weights of its own (not tied, random)
def tied_logits(states, embedding):
    return nn.Linear(embedding.shape[1], embedding.shape[0], bias=False, dtype=states.dtype)(states)
