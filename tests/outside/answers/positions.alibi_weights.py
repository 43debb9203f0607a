# %% right | exp and tril by hand, in double
def alibi_weights(scaled):
    H, T = scaled.shape[-3], scaled.shape[-1]
    pos = torch.arange(T, device=scaled.device)
    m = torch.tensor([2.0 ** (-8 * (h + 1) / H) for h in range(H)], dtype=torch.float64, device=scaled.device)
    s = scaled.double() - m.view(H, 1, 1) * (pos.view(T, 1) - pos.view(1, T)).abs()
    e = torch.exp(s - s.amax(dim=-1, keepdim=True)).tril()
    return (e / e.sum(dim=-1, keepdim=True)).to(scaled.dtype)


# %% wrong | added | distance_rewarded
def alibi_weights(scaled):
    H, T = scaled.shape[-3], scaled.shape[-1]
    pos = torch.arange(T, device=scaled.device)
    m = torch.tensor([2.0 ** (-8 * (h + 1) / H) for h in range(H)], dtype=scaled.dtype, device=scaled.device)
    dist = pos[:, None] - pos[None, :]
    s = scaled + m[:, None, None] * dist
    return s.masked_fill(dist < 0, float("-inf")).softmax(-1)


# %% wrong | everything on the CPU | on_the_cpu
def alibi_weights(scaled):
    H, T = scaled.shape[-3], scaled.shape[-1]
    pos = torch.arange(T)
    m = torch.tensor([2.0 ** (-8 * (h + 1) / H) for h in range(H)], dtype=scaled.dtype)
    dist = pos[:, None] - pos[None, :]
    s = scaled - m[:, None, None] * dist
    return s.masked_fill(dist < 0, float("-inf")).softmax(-1)


# %% wrong | heads from 0 | slopes_from_zero
def alibi_weights(scaled):
    H, T = scaled.shape[-3], scaled.shape[-1]
    pos = torch.arange(T, device=scaled.device)
    m = 2.0 ** (-8 * torch.arange(H, device=scaled.device).to(scaled.dtype) / H)
    dist = pos[:, None] - pos[None, :]
    s = scaled - m[:, None, None] * dist
    return s.masked_fill(dist < 0, float("-inf")).softmax(-1)


# %% wrong | not causal, distance both ways | future_is_penalised
def alibi_weights(scaled):
    H, T = scaled.shape[-3], scaled.shape[-1]
    pos = torch.arange(T, device=scaled.device)
    m = torch.tensor([2.0 ** (-8 * (h + 1) / H) for h in range(H)], dtype=scaled.dtype, device=scaled.device)
    dist = (pos[:, None] - pos[None, :]).abs()
    return (scaled - m[:, None, None] * dist).softmax(-1)


# %% wrong | softmax over the queries
def alibi_weights(scaled):
    H, T = scaled.shape[-3], scaled.shape[-1]
    pos = torch.arange(T, device=scaled.device)
    m = torch.tensor([2.0 ** (-8 * (h + 1) / H) for h in range(H)], dtype=scaled.dtype, device=scaled.device)
    dist = pos[:, None] - pos[None, :]
    s = scaled - m[:, None, None] * dist
    return s.masked_fill(dist < 0, float("-inf")).softmax(-2)
