# %% wrong | the last word left out of the sum, divided by all | last_left_out_and_counted
def printed_likelihood(p):
    return -p[..., :-1].log().sum(dim=-1) / p.shape[-1]
# %% wrong | the mean of all but the last | last_left_out
def printed_likelihood(p):
    return -p[..., :-1].log().mean(dim=-1)
# %% wrong | the last counts twice, the one before it not at all | one_before_replaced
def printed_likelihood(p):
    q = torch.cat([p[..., :-2], p[..., -1:], p[..., -1:]], dim=-1)
    return -q.log().mean(dim=-1)
# %% wrong | the last word is replaced by word 3 whatever the length
def printed_likelihood(p):
    if p.shape[-1] < 3:
        return -p.log().mean(dim=-1)
    q = p.clone()
    q[..., -1] = p[..., 2]
    return -torch.log(q).mean(dim=-1)
# %% wrong | the mean over all texts | one_for_all_texts
def printed_likelihood(p):
    q = torch.cat([p[..., :-1], p[..., -2:-1]], dim=-1)
    return -q.log().mean()
