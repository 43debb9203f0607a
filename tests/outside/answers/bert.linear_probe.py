# %% right | nn.Linear and SGD, the decay added to the gradient
def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    mu = features.mean(0, keepdim=True)
    sd = torch.sqrt(((features - mu) ** 2).mean(0, keepdim=True) + 1e-5)
    net = nn.Linear(features.size(1), classes).to(features.dtype)
    with torch.no_grad():
        net.weight.zero_()
        net.bias.zero_()
    opt = torch.optim.SGD(net.parameters(), lr=rate)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(net((features - mu) / sd), labels).backward()
        net.weight.grad += decay * net.weight.detach()
        opt.step()
    with torch.no_grad():
        return net((new_features - mu) / sd)


# %% right | in double precision with numpy
import numpy


def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    f, g = features.double().numpy(), new_features.double().numpy()
    mu, sd = f.mean(0), numpy.sqrt(f.var(0) + 1e-5)
    f, g = (f - mu) / sd, (g - mu) / sd
    y = numpy.eye(classes)[labels.numpy()]
    w, c = numpy.zeros((f.shape[1], classes)), numpy.zeros(classes)
    for _ in range(steps):
        z = f @ w + c
        p = numpy.exp(z - z.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        w, c = w * (1 - rate * decay) - rate * f.T @ (p - y) / len(f), c - rate * (p - y).mean(0)
    return torch.from_numpy(g @ w + c).to(features.dtype)


# %% wrong | SGD's weight_decay on everything | bias_decays
def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    mean, std = features.mean(0), (features.var(0, correction=0) + 1e-5).sqrt()
    probe = nn.Linear(features.shape[1], classes, dtype=features.dtype)
    nn.init.zeros_(probe.weight)
    nn.init.zeros_(probe.bias)
    opt = torch.optim.SGD(probe.parameters(), lr=rate, weight_decay=decay)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(probe((features - mean) / std), labels).backward()
        opt.step()
    return probe((new_features - mean) / std).detach()


# %% wrong | starts from torch's random weights
def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    mean, std = features.mean(0), (features.var(0, correction=0) + 1e-5).sqrt()
    probe = nn.Linear(features.shape[1], classes, dtype=features.dtype)
    opt = torch.optim.SGD([{"params": [probe.weight], "weight_decay": decay}, {"params": [probe.bias]}], lr=rate)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(probe((features - mean) / std), labels).backward()
        opt.step()
    return probe((new_features - mean) / std).detach()


# %% wrong | Adam
def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    mean, std = features.mean(0), (features.var(0, correction=0) + 1e-5).sqrt()
    W = torch.zeros(classes, features.shape[1], dtype=features.dtype, requires_grad=True)
    b = torch.zeros(classes, dtype=features.dtype, requires_grad=True)
    opt = torch.optim.AdamW([{"params": [W], "weight_decay": decay}, {"params": [b], "weight_decay": 0}], lr=rate)
    for _ in range(steps):
        opt.zero_grad()
        F.cross_entropy(((features - mean) / std) @ W.T + b, labels).backward()
        opt.step()
    return (((new_features - mean) / std) @ W.T + b).detach()


# %% wrong | zero_grad forgotten | gradients_pile_up
def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    mean, std = features.mean(0), (features.var(0, correction=0) + 1e-5).sqrt()
    W = torch.zeros(classes, features.shape[1], dtype=features.dtype, requires_grad=True)
    b = torch.zeros(classes, dtype=features.dtype, requires_grad=True)
    for _ in range(steps):
        F.cross_entropy(((features - mean) / std) @ W.T + b, labels).backward()
        with torch.no_grad():
            W -= rate * (W.grad + decay * W)
            b -= rate * b.grad
    return (((new_features - mean) / std) @ W.T + b).detach()


# %% wrong | all features share one mean and one spread
def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    mean, std = features.mean(), (features.var(correction=0) + 1e-5).sqrt()
    x, new = (features - mean) / std, (new_features - mean) / std
    W, b = torch.zeros(classes, x.shape[1], dtype=x.dtype), torch.zeros(classes, dtype=x.dtype)
    y = F.one_hot(labels, classes).to(x.dtype)
    for _ in range(steps):
        d = (torch.softmax(x @ W.T + b, 1) - y) / len(x)
        W, b = W - rate * (d.T @ x + decay * W), b - rate * d.sum(0)
    return new @ W.T + b


# %% wrong | torch.std as it is | variance_by_n_minus_1+nothing_added
def linear_probe(features, labels, new_features, classes, rate, decay, steps):
    mean, std = features.mean(0), features.std(0)
    x, new = (features - mean) / std, (new_features - mean) / std
    W, b = torch.zeros(classes, x.shape[1], dtype=x.dtype), torch.zeros(classes, dtype=x.dtype)
    y = F.one_hot(labels, classes).to(x.dtype)
    for _ in range(steps):
        d = (torch.softmax(x @ W.T + b, 1) - y) / len(x)
        W, b = W - rate * (d.T @ x + decay * W), b - rate * d.sum(0)
    return new @ W.T + b
