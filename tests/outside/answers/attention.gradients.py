# %% right | matrix of the softmax's derivative for each query, flattened batch
def attention_gradients(q, k, v, of_out):
    d = q.shape[-1]
    P = torch.softmax(q @ k.transpose(-2, -1) / d**0.5, dim=-1)
    dP = of_out @ v.transpose(-2, -1)
    J = torch.diag_embed(P) - P[..., :, None] * P[..., None, :]
    dS = (J @ dP[..., None])[..., 0] / d**0.5
    return dS @ k, dS.transpose(-2, -1) @ q, P.transpose(-2, -1) @ of_out


# %% right | FlashAttention's D = rowsum(dO * O), exponentials by hand, einsum
def attention_gradients(q, k, v, of_out):
    s = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    p = (s - s.logsumexp(-1, keepdim=True)).exp()
    o = torch.einsum("...ij,...jd->...id", p, v)
    D = (of_out * o).sum(-1, keepdim=True)
    ds = p * (torch.einsum("...id,...jd->...ij", of_out, v) - D) * q.shape[-1] ** -0.5
    return torch.einsum("...ij,...jd->...id", ds, k), torch.einsum("...ij,...id->...jd", ds, q), p.mT @ of_out


# %% wrong | forgets the root on the way back | scaled_once
def attention_gradients(q, k, v, of_out):
    a = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
    da = of_out @ v.mT
    ds = a * (da - (a * da).sum(-1, keepdim=True))
    return ds @ k, ds.mT @ q, a.mT @ of_out


# %% wrong | softmax as if each weight had its own score | through_a_sigmoid
def attention_gradients(q, k, v, of_out):
    root = math.sqrt(q.shape[-1])
    a = torch.softmax(q @ k.mT / root, -1)
    ds = (of_out @ v.mT) * a * (1 - a) / root
    return ds @ k, ds.mT @ q, a.mT @ of_out


# %% wrong | only the first term of the derivative | weights_alone
def attention_gradients(q, k, v, of_out):
    root = math.sqrt(q.shape[-1])
    a = torch.softmax(q @ k.mT / root, -1)
    ds = torch.einsum("...ij,...ij->...ij", a, of_out @ v.mT) / root
    return ds @ k, ds.mT @ q, a.mT @ of_out


# %% wrong | .T in a batch
def attention_gradients(q, k, v, of_out):
    root = math.sqrt(q.shape[-1])
    a = torch.softmax(q @ k.T / root, -1)
    da = of_out @ v.T
    ds = a * (da - (a * da).sum(-1, keepdim=True)) / root
    return ds @ k, ds.T @ q, a.T @ of_out


# %% wrong | q and k exchanged in what comes back | queries_and_keys_swapped
def attention_gradients(q, k, v, of_out):
    root = math.sqrt(q.shape[-1])
    a = torch.softmax(q @ k.mT / root, -1)
    da = of_out @ v.mT
    ds = a * (da - (a * da).sum(-1, keepdim=True)) / root
    return ds.mT @ q, ds @ k, a.mT @ of_out


# %% wrong | squeezes what is 1
def attention_gradients(q, k, v, of_out):
    root = math.sqrt(q.shape[-1])
    a = torch.softmax(q @ k.mT / root, -1)
    da = of_out @ v.mT
    ds = a * (da - (a * da).sum(-1, keepdim=True)) / root
    return (ds @ k).squeeze(), (ds.mT @ q).squeeze(), (a.mT @ of_out).squeeze()
