# %% right | numbers of documents by a loop
def packed_mask(ids, end):
    B, T = ids.shape
    doc = torch.zeros_like(ids)
    for b in range(B):
        n = 0
        for t in range(T):
            doc[b, t] = n
            if ids[b, t] == end:
                n += 1
    causal = torch.tril(torch.ones(T, T, device=ids.device)).bool()
    return (doc[:, :, None] == doc[:, None, :]) & causal


# %% right | counted from the back
def packed_mask(ids, end):
    left = (ids == end).flip(-1).cumsum(-1).flip(-1)
    return torch.eq(left.unsqueeze(2), left.unsqueeze(1)).tril()


# %% wrong | the end belongs to the next one | end_opens_the_next
def packed_mask(ids, end):
    doc = torch.cumsum((ids == end).int(), dim=1)
    T = ids.shape[1]
    mask = torch.ones(T, T, dtype=torch.bool, device=ids.device).tril()
    return mask.unsqueeze(0) & (doc.unsqueeze(1) == doc.unsqueeze(2))


# %% wrong | no causal rule | both_directions
def packed_mask(ids, end):
    left = (ids == end).flip(-1).cumsum(-1).flip(-1)
    return left[:, :, None] == left[:, None, :]


# %% wrong | causal mask made on the CPU | on_the_cpu
def packed_mask(ids, end):
    doc = torch.cumsum((ids == end).int(), dim=1) - (ids == end).int()
    T = ids.shape[1]
    mask = torch.ones(T, T, dtype=torch.bool).tril()
    return mask & (doc[:, :, None] == doc[:, None, :])


# %% wrong | upper triangle | keys_as_rows
def packed_mask(ids, end):
    left = (ids == end).flip(-1).cumsum(-1).flip(-1)
    return torch.triu(left.unsqueeze(2) == left.unsqueeze(1))


# %% wrong | end always 2
def packed_mask(ids, end):
    left = (ids == 2).flip(-1).cumsum(-1).flip(-1)
    return torch.eq(left.unsqueeze(2), left.unsqueeze(1)).tril()


# %% wrong | only the last document of a row
def packed_mask(ids, end):
    doc = torch.cumsum((ids == end).int(), dim=1) - (ids == end).int()
    last = doc == doc.max(dim=1, keepdim=True).values
    return (last[:, :, None] & last[:, None, :]).tril()
