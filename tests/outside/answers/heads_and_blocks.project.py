# %% right | broadcast product and sum
def project(x, memory, W_q, W_k, W_v):
    out = []
    for a, W in [(x, W_q), (memory, W_k), (memory, W_v)]:
        out.append((a.unsqueeze(-1) * W).sum(dim=-2))
    return out[0], out[1], out[2]


# %% right | column by column, a beginner's loop
def project(x, memory, W_q, W_k, W_v):
    def mult(a, W):
        cols = []
        for j in range(W.shape[1]):
            cols.append((a * W[:, j]).sum(dim=-1))
        return torch.stack(cols, dim=-1)
    q = mult(x, W_q)
    k = mult(memory, W_k)
    v = mult(memory, W_v)
    return q, k, v


# %% wrong | returned as q, v, k | values_before_keys
def project(x, memory, W_q, W_k, W_v):
    return x @ W_q, memory @ W_v, memory @ W_k


# %% wrong | keys with W_q (W_q used twice) | w_q_for_the_keys
def project(x, memory, W_q, W_k, W_v):
    return x @ W_q, memory @ W_q, memory @ W_v


# %% wrong | values made from the keys instead of the memory: k @ W_v; raises unless d_key == d_model | values_of_the_keys
def project(x, memory, W_q, W_k, W_v):
    k = memory @ W_k
    return x @ W_q, k, k @ W_v


# %% wrong | memory ignored + matrices transposed | transposed+memory_ignored
def project(x, memory, W_q, W_k, W_v):
    return x @ W_q.T, x @ W_k.T, x @ W_v.T


# %% wrong | values from x + returned as q, v, k | values_from_x+values_before_keys
def project(x, memory, W_q, W_k, W_v):
    q = x @ W_q
    k = memory @ W_k
    v = x @ W_v
    return q, v, k
