# %% wrong | halves, as in Llama's published code | halves_as_pairs
def rotary(x, places, base):
    d = x.shape[-1]
    f = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angles = places[:, None].to(x.dtype) * f
    cos, sin = torch.cat([angles.cos()] * 2, -1), torch.cat([angles.sin()] * 2, -1)
    half = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)
    return x * cos + half * sin
# %% wrong | frequencies with i / d instead of 2 i / d | two_forgotten
def rotary(x, places, base):
    d = x.shape[-1]
    f = base ** (-torch.arange(d // 2, dtype=x.dtype) / d)
    angles = places[:, None].to(x.dtype) * f
    a, b = x[..., 0::2], x[..., 1::2]
    out = torch.zeros_like(x)
    out[..., 0::2] = a * angles.cos() - b * angles.sin()
    out[..., 1::2] = a * angles.sin() + b * angles.cos()
    return out
# %% wrong | in place: the second uses the first's new value | second_from_the_first
def rotary(x, places, base):
    d = x.shape[-1]
    f = 1 / base ** (torch.arange(0, d, 2, dtype=x.dtype) / d)
    angles = torch.outer(places.to(x.dtype), f)
    out = x.clone()
    out[..., 0::2] = out[..., 0::2] * angles.cos() - out[..., 1::2] * angles.sin()
    out[..., 1::2] = out[..., 0::2] * angles.sin() + out[..., 1::2] * angles.cos()
    return out
