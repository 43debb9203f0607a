# %% wrong | decay without the rate | rate_left_out
def decayed_step(weights, updates, rate, decay):
    new = []
    for w, u in zip(weights, updates):
        if w.dim() >= 2:
            new.append(w - rate * u - decay * w)
        else:
            new.append(w - rate * u)
    return new
# %% wrong | everything fades | vectors_decay
def decayed_step(weights, updates, rate, decay):
    return [w - rate * (u + decay * w) for w, u in zip(weights, updates)]
# %% wrong | in place
def decayed_step(weights, updates, rate, decay):
    for w, u in zip(weights, updates):
        if w.ndim > 1:
            w -= rate * decay * w
        w -= rate * u
    return weights
