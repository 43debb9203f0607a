# %% right | torch.std with correction=0, squared, then epsilon
def layer_norm(x, gamma, beta, epsilon=1e-5):
    std = torch.std(x, dim=-1, correction=0, keepdim=True)
    normalised = (x - torch.mean(x, dim=-1, keepdim=True)) / torch.sqrt(std * std + epsilon)
    return normalised * gamma + beta


# %% right | centring as a matrix product
def layer_norm(x, gamma, beta, epsilon=1e-5):
    d = x.shape[-1]
    centring = torch.eye(d, dtype=x.dtype, device=x.device) - 1 / d
    c = x @ centring
    scale = gamma / torch.sqrt(c.square().mean(dim=-1, keepdim=True) + epsilon)
    return c * scale + beta


# %% wrong | root of the variance squared again: values right, but the gradient is NaN where all numbers are equal | root_without_epsilon_on_the_way
def layer_norm(x, gamma, beta, epsilon=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    std = torch.sqrt(x.var(dim=-1, correction=0, keepdim=True))
    return gamma * (x - mean) / torch.sqrt(std**2 + epsilon) + beta


# %% wrong | over the batch (dim=0): batch norm | over_the_first_dimension
def layer_norm(x, gamma, beta, epsilon=1e-5):
    mean = x.mean(dim=0, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(x.var(dim=0, correction=0, keepdim=True) + epsilon) + beta


# %% wrong | mean and variance detached: values right, gradient of x wrong | statistics_detached
def layer_norm(x, gamma, beta, epsilon=1e-5):
    mean = x.mean(dim=-1, keepdim=True).detach()
    var = x.var(dim=-1, correction=0, keepdim=True).detach()
    return gamma * (x - mean) / torch.sqrt(var + epsilon) + beta


# %% wrong | only centred, not divided | not_divided
def layer_norm(x, gamma, beta, epsilon=1e-5):
    return gamma * (x - x.mean(dim=-1, keepdim=True)) + beta


# %% wrong | over the batch (dim=0) + d - 1 | divided_by_one_less+over_the_first_dimension
def layer_norm(x, gamma, beta, epsilon=1e-5):
    return gamma * (x - x.mean(dim=0)) / torch.sqrt(x.var(dim=0) + epsilon) + beta


# %% wrong | root forgotten + d - 1 | divided_by_one_less+root_left_out
def layer_norm(x, gamma, beta, epsilon=1e-5):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + epsilon) + beta
# %% wrong | std + epsilon | epsilon_added_to_std
def layer_norm(x, gamma, beta, epsilon):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (std + epsilon) + beta
