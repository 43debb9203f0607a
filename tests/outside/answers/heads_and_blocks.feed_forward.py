# %% right | einsum
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        h = torch.einsum("...d,hd->...h", x, self.W_1.weight) + self.W_1.bias
        h = self.activation(h)
        return torch.einsum("...h,dh->...d", h, self.W_2.weight) + self.W_2.bias


# %% right | word by word in a loop
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        outs = []
        for row in rows:
            outs.append(self.W_2(self.activation(self.W_1(row))))
        return torch.stack(outs).reshape(x.shape)


# %% wrong | ReLU6: right as long as nothing in the hidden layer is above 6 | relu_up_to_six
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.W_2(F.relu6(self.W_1(x)))


# %% wrong | dropout in the hidden layer, off in evaluation (shows in training mode, which is a module's default)
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.W_2(F.dropout(self.activation(self.W_1(x)), 0.1, self.training))


# %% wrong | d_ff taken for 4 * d_model: the rest of a wider hidden layer is left out (shows only for d_ff > 4 * d_model)
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        width = 4 * x.shape[-1]
        h = self.activation(self.W_1(x))[..., :width]
        return F.linear(h, self.W_2.weight[:, :width], self.W_2.bias)


# %% wrong | single precision inside, cast back (shows in float64 by the digits)
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        h = self.activation(F.linear(x.float(), self.W_1.weight.float(), self.W_1.bias.float()))
        return F.linear(h, self.W_2.weight.float(), self.W_2.bias.float()).to(x.dtype)


# %% wrong | b_1 forgotten | first_bias_left_out
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.W_2(self.activation(x @ self.W_1.weight.T))


# %% wrong | GELU + b_2 forgotten | gelu+second_bias_left_out
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return F.gelu(self.W_1(x)) @ self.W_2.weight.T


# %% wrong | sigmoid + residual connection | sigmoid+residual_added
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return x + self.W_2(torch.sigmoid(self.W_1(x)))


# %% wrong | ReLU, whatever activation it was made with | always_relu
class FeedForward(nn.Module):
    """The same small network at every word."""

    def __init__(self, d_model, d_ff, activation=F.relu):
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff)
        self.activation = activation
        self.W_2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        h = torch.einsum("...d,hd->...h", x, self.W_1.weight) + self.W_1.bias
        h = torch.where(h > 0, h, torch.zeros_like(h))
        return torch.einsum("...h,dh->...d", h, self.W_2.weight) + self.W_2.bias
