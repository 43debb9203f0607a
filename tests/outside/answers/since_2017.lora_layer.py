# %% right | two linear layers' weights by F.linear, plain attribute
class LoRA(nn.Module):
    def __init__(self, weight, rank, alpha):
        super().__init__()
        self.weight = weight.detach().clone()
        self.rank, self.alpha = rank, alpha
        self.A = nn.Parameter(torch.empty(rank, weight.size(1)).normal_(std=weight.size(1) ** -0.5))
        self.B = nn.Parameter(torch.zeros(weight.size(0), rank))
    def forward(self, x):
        return F.linear(x, self.weight) + F.linear(F.linear(x, self.A), self.B) * (self.alpha / self.rank)
# %% right | einsum
class LoRA(nn.Module):
    def __init__(self, weight, rank, alpha):
        super().__init__()
        self.register_buffer("W", weight)
        self.A = nn.Parameter(torch.randn(rank, weight.shape[-1]))
        self.B = nn.Parameter(torch.zeros(len(weight), rank))
        self.alpha = alpha
    def forward(self, x):
        down = torch.einsum("...i,ri->...r", x, self.A)
        return torch.einsum("...i,oi->...o", x, self.W) + self.alpha / len(self.A) * torch.einsum("...r,or->...o", down, self.B)
# %% wrong | alpha alone | not_divided_by_the_rank
class LoRA(nn.Module):
    def __init__(self, weight, rank, alpha):
        super().__init__()
        self.weight, self.alpha = weight, alpha
        self.A = nn.Parameter(torch.randn(rank, weight.shape[1]))
        self.B = nn.Parameter(torch.zeros(weight.shape[0], rank))
    def forward(self, x):
        return x @ self.weight.T + self.alpha * (x @ self.A.T @ self.B.T)
# %% wrong | divided by d_in | divided_by_d_in
class LoRA(nn.Module):
    def __init__(self, weight, rank, alpha):
        super().__init__()
        self.weight, self.alpha = weight, alpha
        self.A = nn.Parameter(torch.randn(rank, weight.shape[1]))
        self.B = nn.Parameter(torch.zeros(weight.shape[0], rank))
    def forward(self, x):
        return F.linear(x, self.weight) + self.alpha / self.A.shape[1] * F.linear(F.linear(x, self.A), self.B)
# %% wrong | scaled as a whole | weight_scaled
class LoRA(nn.Module):
    def __init__(self, weight, rank, alpha):
        super().__init__()
        self.weight, self.scale = weight, alpha / rank
        self.A = nn.Parameter(torch.randn(rank, weight.shape[1]))
        self.B = nn.Parameter(torch.zeros(weight.shape[0], rank))
    def forward(self, x):
        return x @ (self.weight + self.B @ self.A).T * self.scale
# %% wrong | the weight is a parameter, so that it learns
class LoRA(nn.Module):
    def __init__(self, weight, rank, alpha):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.A = nn.Parameter(torch.randn(rank, weight.shape[1]))
        self.B = nn.Parameter(torch.zeros(weight.shape[0], rank))
        self.scale = alpha / rank
    def forward(self, x):
        return x @ self.weight.T + self.scale * (x @ self.A.T @ self.B.T)
