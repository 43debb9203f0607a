# %% right | new_empty, two slices
def appended_index(x):
    *rest, words, d = x.shape
    result = x.new_empty(*rest, words, d + 1)
    result[..., :d] = x
    result[..., d] = torch.arange(words, device=x.device)
    return result


# %% wrong | positions as int8: overflow from place 128 on | small_integers
def appended_index(x):
    column = torch.arange(x.shape[-2]).to(torch.int8).unsqueeze(-1).expand(*x.shape[:-1], 1)
    return torch.cat([x, column.to(x.dtype)], dim=-1)


# %% wrong | divided by the length | divided_by_length
def appended_index(x):
    words = x.shape[-2]
    column = (torch.arange(words, dtype=x.dtype) / words).unsqueeze(-1).expand(*x.shape[:-1], 1)
    return torch.cat([x, column], dim=-1)


# %% wrong | counts on through the whole batch | counted_through_the_batch
def appended_index(x):
    count = x[..., 0].numel()
    column = torch.arange(count, dtype=x.dtype).reshape(*x.shape[:-1], 1)
    return torch.cat([x, column], dim=-1)


# %% wrong | overwrites the last component instead of adding one | last_component_overwritten
def appended_index(x):
    result = x.clone()
    result[..., -1] = torch.arange(x.shape[-2], dtype=x.dtype)
    return result


# %% wrong | always float32 (float64 in, float32 out) | always_single
def appended_index(x):
    column = torch.arange(x.shape[-2]).float().unsqueeze(-1).expand(*x.shape[:-1], 1)
    return torch.cat([x.float(), column], dim=-1)


# %% wrong | counted from 1 + in front | counted_from_one+in_front
def appended_index(x):
    column = torch.arange(1, x.shape[-2] + 1, dtype=x.dtype).unsqueeze(-1).expand(*x.shape[:-1], 1)
    return torch.cat([column, x], dim=-1)


# %% wrong | counted from 1 + float32 | counted_from_one+always_single
def appended_index(x):
    column = (torch.arange(x.shape[-2]) + 1.0).unsqueeze(-1).expand(*x.shape[:-1], 1)
    return torch.cat([x.to(torch.float32), column], dim=-1)
