# %% right | torch.std with correction=0, squared, then epsilon
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        std = torch.std(x, dim=-1, correction=0, keepdim=True)
        normalised = (x - torch.mean(x, dim=-1, keepdim=True)) / torch.sqrt(std * std + self.epsilon)
        return normalised * self.weight + self.bias


# %% right | centring as a matrix product
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        d = x.shape[-1]
        centring = torch.eye(d, dtype=x.dtype, device=x.device) - 1 / d
        c = x @ centring
        scale = self.weight / torch.sqrt(c.square().mean(dim=-1, keepdim=True) + self.epsilon)
        return c * scale + self.bias


# %% wrong | root of the variance squared again: values right, but the gradient is NaN where all numbers are equal | root_without_epsilon_on_the_way
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        std = torch.sqrt(x.var(dim=-1, correction=0, keepdim=True))
        return self.weight * (x - mean) / torch.sqrt(std**2 + self.epsilon) + self.bias


# %% wrong | over the batch (dim=0): batch norm | over_the_first_dimension
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean = x.mean(dim=0, keepdim=True)
        return self.weight * (x - mean) / torch.sqrt(x.var(dim=0, correction=0, keepdim=True) + self.epsilon) + self.bias


# %% wrong | mean and variance detached: values right, gradient of x wrong | statistics_detached
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True).detach()
        var = x.var(dim=-1, correction=0, keepdim=True).detach()
        return self.weight * (x - mean) / torch.sqrt(var + self.epsilon) + self.bias


# %% wrong | only centred, not divided | not_divided
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return self.weight * (x - x.mean(dim=-1, keepdim=True)) + self.bias


# %% wrong | over the batch (dim=0) + d - 1 | divided_by_one_less+over_the_first_dimension
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return self.weight * (x - x.mean(dim=0)) / torch.sqrt(x.var(dim=0) + self.epsilon) + self.bias


# %% wrong | root forgotten + d - 1 | divided_by_one_less+root_left_out
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return self.weight * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + self.epsilon) + self.bias


# %% wrong | std + epsilon | epsilon_added_to_std
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean, std = x.mean(-1, keepdim=True), x.std(-1, unbiased=False, keepdim=True)
        return self.weight * (x - mean) / (std + self.epsilon) + self.bias


# %% wrong | only divided by the standard deviation, the mean left in | not_centred
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        std = (x.var(dim=-1, unbiased=False, keepdim=True) + self.epsilon) ** 0.5
        return x / std * self.weight + self.bias



# %% wrong | standardised, and neither stretched nor moved | beta_left_out+gamma_left_out
class LayerNorm(nn.Module):
    def __init__(self, d_model, epsilon=1e-5):
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon)
