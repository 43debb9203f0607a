# %% right | numpy of the differences, a fresh copy from a list
def leak_test(model, x):
    base = model(x).detach().numpy()
    table = []
    for j in range(x.size(0)):
        rows = [r.clone() for r in x]
        rows[j] = rows[j] * -3 + torch.arange(1, x.size(1) + 1).to(x.dtype)
        now = model(torch.stack(rows)).detach().numpy()
        table.append([bool((abs(now[i] - base[i]) > 1e-9).any()) for i in range(x.size(0))])
    return torch.tensor(table).T


# %% right | backward from each output row
def leak_test(model, x):
    x = x.clone().requires_grad_()
    result = []
    for i in range(len(x)):
        (grad,) = torch.autograd.grad(model(x)[i].sum(), x)
        result.append((grad != 0).any(dim=1))
    return torch.stack(result)


# %% wrong | token set to zero | scaled
def leak_test(model, x):
    y = model(x)
    M = torch.zeros(x.shape[0], x.shape[0]).bool()
    for j in range(x.shape[0]):
        z = x.clone()
        z[j, :] = 0.0
        M[:, j] = ((model(z) - y).abs() > 0).sum(1) > 0
    return M


# %% wrong | changes x itself and never changes it back: of this the verdict speaks
def leak_test(model, x):
    y = model(x)
    M = torch.zeros(x.shape[0], x.shape[0], dtype=torch.bool)
    for j in range(x.shape[0]):
        x[j] = torch.randn(x.shape[1])
        M[:, j] = (model(x) != y).any(1)
    return M


# %% wrong | only the first number of a token | one_component_changed
def leak_test(model, x):
    y = model(x)
    cols = []
    for j in range(len(x)):
        z = x.clone()
        z[j][0] += 10
        cols.append((model(z) - y).abs().sum(dim=1) > 1e-8)
    return torch.stack(cols, dim=1)


# %% wrong | rows and columns swapped, as numbers | transposed+numbers
def leak_test(model, x):
    y = model(x)
    rows = []
    for j in range(len(x)):
        z = x.clone()
        z[j] = torch.rand(x.shape[1]) + 5
        rows.append((model(z) != y).any(dim=1).long())
    return torch.stack(rows)


# %% wrong | True where nothing changes | inverted
def leak_test(model, x):
    y = model(x)
    M = torch.ones(len(x), len(x), dtype=torch.bool)
    for j in range(len(x)):
        z = x.clone()
        z[j] = torch.randn(x.shape[1])
        M[:, j] = torch.tensor([torch.equal(a, b) for a, b in zip(model(z), y)])
    return M


# %% wrong | only what is ahead is tried | leaks_alone
def leak_test(model, x):
    y = model(x)
    M = torch.zeros(len(x), len(x), dtype=torch.bool)
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            z = x.clone()
            z[j] = torch.randn(x.shape[1])
            M[i, j] = not torch.equal(model(z)[i], y[i])
    return M
