# %% right | one formula for both: cosine is a sine a quarter ahead (float64)
def sinusoidal_encoding(length, d_model):
    k = torch.arange(d_model)
    speed = 10000.0 ** (-(k // 2 * 2).double() / d_model)
    angle = torch.arange(length).double()[:, None] * speed + (k % 2) * math.pi / 2
    return angle.sin().float()


# %% wrong | table of 64 rows cut to length: too short for longer sentences
def sinusoidal_encoding(length, d_model):
    angle = torch.arange(64).unsqueeze(-1) / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)[:length]


# %% wrong | 100000 instead of 10000 | base_100000
def sinusoidal_encoding(length, d_model):
    position = torch.arange(length).unsqueeze(-1)
    angle = position / 100000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


# %% wrong | not divided by d_model in the exponent | exponent_not_divided
def sinusoidal_encoding(length, d_model):
    position = torch.arange(length).unsqueeze(-1)
    angle = position / 10000.0 ** torch.arange(0, d_model, 2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


# %% wrong | sine negative (turns to the left) | sine_negative
def sinusoidal_encoding(length, d_model):
    position = torch.arange(length).unsqueeze(-1)
    angle = position / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([-angle.sin(), angle.cos()], dim=-1).flatten(-2)


# %% wrong | position divided by the length | divided_by_length
def sinusoidal_encoding(length, d_model):
    position = torch.arange(length).unsqueeze(-1)
    angle = position / length / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


# %% wrong | all sines first + positions from 1 | halves+counted_from_one
def sinusoidal_encoding(length, d_model):
    position = torch.arange(1, length + 1).unsqueeze(-1)
    angle = position / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


# %% wrong | exponent i / d_model + all sines first | halves+two_forgotten
def sinusoidal_encoding(length, d_model):
    position = torch.arange(length).unsqueeze(-1)
    angle = position / 10000 ** (torch.arange(d_model // 2) / d_model)
    return torch.cat([angle.sin(), angle.cos()], dim=-1)


# %% wrong | the odd dimension's own number in the cosine's exponent | cosine_too_slow
def sinusoidal_encoding(length, d_model):
    pe = torch.zeros(length, d_model)
    pos = torch.arange(length, dtype=torch.float64)
    for j in range(d_model):
        angle = pos / 10000 ** (j / d_model)
        pe[:, j] = torch.sin(angle) if j % 2 == 0 else torch.cos(angle)
    return pe
