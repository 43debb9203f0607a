# %% right | cross_entropy, whose log-softmax changes nothing but the gradient of log_probs
def lm_loss(log_probs, targets):
    return F.cross_entropy(log_probs.transpose(1, 2), targets)
# %% right | clumsy double loop
def lm_loss(log_probs, targets):
    total = 0
    count = 0
    for i in range(targets.shape[0]):
        for j in range(targets.shape[1]):
            total = total - log_probs[i, j, targets[i, j]]
            count += 1
    return total / count
# %% wrong | detached: no gradient | detached
def lm_loss(log_probs, targets):
    return F.nll_loss(log_probs.detach().flatten(0, 1), targets.flatten())
# %% wrong | torch.tensor of the value: the gradient is lost | detached
def lm_loss(log_probs, targets):
    return torch.tensor(F.nll_loss(log_probs.flatten(0, 1), targets.flatten()), dtype=log_probs.dtype)
# %% wrong | probabilities passed to cross_entropy, softmax twice | softmax_of_probabilities
def lm_loss(log_probs, targets):
    return F.cross_entropy(log_probs.exp().flatten(0, 1), targets.flatten())
# %% wrong | log-probabilities flattened in the other order (words before texts) | log_probs_in_another_order
def lm_loss(log_probs, targets):
    return F.nll_loss(log_probs.transpose(0, 1).flatten(0, 1), targets.flatten())
# %% wrong | transposed, then cut by reshape: rows torn apart | transposed_and_reshaped
def lm_loss(log_probs, targets):
    v = log_probs.shape[-1]
    return F.nll_loss(log_probs.transpose(1, 2).reshape(-1, v), targets.flatten())
# %% wrong | targets in the other order + detached | targets_in_another_order+detached
def lm_loss(log_probs, targets):
    return F.nll_loss(log_probs.detach().flatten(0, 1), targets.T.flatten())
# %% wrong | sum + sign | sign_forgotten+summed
def lm_loss(log_probs, targets):
    return log_probs.gather(-1, targets.unsqueeze(-1)).sum()
# %% wrong | log-probabilities clamped at -10 against -inf: wrong value and gradient for improbable targets
def lm_loss(log_probs, targets):
    return F.nll_loss(log_probs.clamp(min=-10).flatten(0, 1), targets.flatten())
