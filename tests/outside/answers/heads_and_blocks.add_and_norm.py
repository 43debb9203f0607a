# %% right | a table of two lambdas
class AddAndNorm(nn.Module):
    def __init__(self, norm, dropout, norm_first=False):
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        orders = {
            True: lambda z: z + self.dropout(sublayer(self.norm(z))),
            False: lambda z: self.norm(z + self.dropout(sublayer(z))),
        }
        return orders[bool(self.norm_first)](x)


# %% wrong | the two orders exchanged | pre_norm_although_not_first
class AddAndNorm(nn.Module):
    def __init__(self, norm, dropout, norm_first=False):
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        if self.norm_first:
            return self.norm(x + self.dropout(sublayer(x)))
        return x + self.dropout(sublayer(self.norm(x)))


# %% wrong | no residual connection in pre-norm | pre_norm_residual_left_out
class AddAndNorm(nn.Module):
    def __init__(self, norm, dropout, norm_first=False):
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        if self.norm_first:
            return self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


# %% wrong | dropout forgotten in pre-norm only | pre_norm_dropout_left_out
class AddAndNorm(nn.Module):
    def __init__(self, norm, dropout, norm_first=False):
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        if self.norm_first:
            return x + sublayer(self.norm(x))
        return self.norm(x + self.dropout(sublayer(x)))


# %% wrong | dropout on x instead of on what is added | residual_dropped
class AddAndNorm(nn.Module):
    def __init__(self, norm, dropout, norm_first=False):
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        if self.norm_first:
            return self.dropout(x) + sublayer(self.norm(x))
        return self.norm(self.dropout(x) + sublayer(x))


# %% wrong | post-norm whose sublayer reads the normalised x, too | post_norm_reads_the_norm
class AddAndNorm(nn.Module):
    def __init__(self, norm, dropout, norm_first=False):
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        y = x + self.dropout(sublayer(self.norm(x)))
        return y if self.norm_first else self.norm(y)


# %% wrong | no residual connection + dropout after the norm | residual_left_out+dropped_after_the_norm
class AddAndNorm(nn.Module):
    def __init__(self, norm, dropout, norm_first=False):
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        if self.norm_first:
            return self.dropout(sublayer(self.norm(x)))
        return self.dropout(self.norm(sublayer(x)))
