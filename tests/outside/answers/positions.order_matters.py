# %% right | allclose token by token
def order_matters(model, x, order):
    old = model(x)
    new = model(torch.index_select(x, 1, order))
    result = torch.zeros(x.shape[0], x.shape[1], dtype=torch.bool)
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            result[b, i] = not torch.allclose(new[b, i], old[b, order[i]], atol=1e-5)
    return result


# %% wrong | same rows compared | places_compared
def order_matters(model, x, order):
    a = model(x)
    b = model(x[:, order])
    return (a - b).abs().max(dim=-1).values > 1e-5


# %% wrong | exactly equal | rounding_counts
def order_matters(model, x, order):
    a = model(x)[:, order]
    b = model(x[:, order])
    return (a != b).any(dim=2)


# %% wrong | inverse order | shuffled_back
def order_matters(model, x, order):
    a = model(x)
    b = model(x[:, order])
    inverse = torch.argsort(order)
    return (b - a[:, inverse]).abs().sum(-1) > 1e-3


# %% wrong | in the order of the old sentence | old_order
def order_matters(model, x, order):
    a = model(x)
    b = torch.zeros_like(a)
    b[:, order] = model(x[:, order])
    return (a - b).abs().sum(-1) > 1e-3


# %% wrong | True for what stays, as ints | inverted+numbers
def order_matters(model, x, order):
    a = model(x)[:, order]
    b = model(x[:, order])
    return ((a - b).abs() < 1e-4).all(dim=-1).int().long()


# %% wrong | the shuffled input is never used | only_outputs_shuffled
def order_matters(model, x, order):
    y = model(x)
    return (y[:, order] - y[:, order.tolist()]).abs().amax(-1) > 1e-4
