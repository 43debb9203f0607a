# %% right | the integral of the bell, from the log of its cdf
def gelu(x, approximate=False):
    if approximate is True:
        c = (2.0 / math.pi) ** 0.5
        return x / 2 * (torch.tanh(c * x + c * 0.044715 * torch.pow(x, 3)) + 1)
    return x * torch.exp(torch.special.log_ndtr(x))


# %% wrong | erf without the root | root_left_out
def gelu(x, approximate=False):
    if approximate:
        return x / 2 * (torch.tanh((2 / math.pi) ** 0.5 * (x + 0.044715 * x * x * x)) + 1)
    return x / 2 * (1 + torch.erf(x))


# %% wrong | sigmoid of 1.702 x | logistic_scaled
def gelu(x, approximate=False):
    return x * torch.sigmoid(x * 1.702)


# %% wrong | always with tanh | always_nearly
def gelu(x, approximate=False):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


# %% wrong | only the exact one | never_nearly
def gelu(x, approximate=False):
    return 0.5 * x * (1 + torch.erf(x / 2**0.5))


# %% wrong | x + x^3 with one factor | factor_misplaced
def gelu(x, approximate=False):
    if not approximate:
        return 0.5 * x * (1 + torch.erf(x / 2**0.5))
    return 0.5 * x * (1 + torch.tanh(x * math.sqrt(2 / math.pi) + 0.044715 * x**3))


# %% wrong | in single precision
def gelu(x, approximate=False):
    z = x.float()
    if approximate:
        out = 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
    else:
        out = 0.5 * z * (1 + torch.erf(z / 2**0.5))
    return out.to(x.dtype)


# %% wrong | SiLU | logistic
def gelu(x, approximate=False):
    return F.silu(x)
