# %% right | parameters and SGD of torch
def training_loop(W, b, batches, rate, clip):
    W, b = nn.Parameter(W.detach().clone()), nn.Parameter(b.detach().clone())
    optimiser = torch.optim.SGD([W, b], lr=rate)
    losses = []
    for x, expected in batches:
        optimiser.zero_grad()
        loss = F.nll_loss(F.log_softmax(torch.addmm(b, x, W), dim=1), expected)
        losses.append(loss.detach().clone())
        loss.backward()
        nn.utils.clip_grad_norm_((W, b), max_norm=clip)
        optimiser.step()
    return W.data, b.data, torch.stack(losses)
# %% wrong | losses as numbers, which torch.tensor makes float32 | losses_in_single_precision
def training_loop(W, b, batches, rate, clip):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    losses = []
    for x, expected in batches:
        W.grad = b.grad = None
        loss = F.cross_entropy(x @ W + b, expected)
        loss.backward()
        nn.utils.clip_grad_norm_([W, b], clip)
        with torch.no_grad():
            W -= rate * W.grad
            b -= rate * b.grad
        losses.append(loss.item())
    return W.detach(), b.detach(), torch.tensor(losses)
# %% wrong | a list for the losses, and gradients that add up | gradients_accumulate+losses_as_a_list
def training_loop(W, b, batches, rate, clip):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    losses = []
    for x, expected in batches:
        loss = F.cross_entropy(x @ W + b, expected)
        loss.backward()
        nn.utils.clip_grad_norm_([W, b], clip)
        with torch.no_grad():
            W -= rate * W.grad
            b -= rate * b.grad
        losses.append(loss.detach())
    return W.detach(), b.detach(), losses
# %% wrong | gradients that add up, shortened by hand and not in place | gradients_accumulate_unclipped
def training_loop(W, b, batches, rate, clip):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    losses = []
    for x, expected in batches:
        loss = F.cross_entropy(x @ W + b, expected)
        loss.backward()
        norm = (W.grad.square().sum() + b.grad.square().sum()).sqrt()
        factor = min(1.0, clip / norm.item())
        with torch.no_grad():
            W -= rate * factor * W.grad
            b -= rate * factor * b.grad
        losses.append(loss.detach())
    return W.detach(), b.detach(), torch.stack(losses)
# %% wrong | clipped before backward() | not_clipped
def training_loop(W, b, batches, rate, clip):
    W, b = W.clone().requires_grad_(), b.clone().requires_grad_()
    losses = []
    for x, expected in batches:
        W.grad = b.grad = None
        loss = F.cross_entropy(x @ W + b, expected)
        nn.utils.clip_grad_norm_([W, b], clip)
        loss.backward()
        with torch.no_grad():
            W -= rate * W.grad
            b -= rate * b.grad
        losses.append(loss.detach())
    return W.detach(), b.detach(), torch.stack(losses)
# %% wrong | max for min | lengthened
def training_loop(W, b, batches, rate, clip):
    losses = []
    for x, expected in batches:
        W, b = W.detach().requires_grad_(), b.detach().requires_grad_()
        loss = F.cross_entropy(x @ W + b, expected)
        of_W, of_b = torch.autograd.grad(loss, (W, b))
        factor = rate * max(1.0, clip / math.hypot(of_W.norm(), of_b.norm()))
        W, b = W - factor * of_W, b - factor * of_b
        losses.append(loss.detach())
    return W.detach(), b.detach(), torch.stack(losses)
# %% wrong | losses after the steps, and no clipping | not_clipped+loss_afterwards
def training_loop(W, b, batches, rate, clip):
    losses = []
    for x, expected in batches:
        W, b = W.detach().requires_grad_(), b.detach().requires_grad_()
        of_W, of_b = torch.autograd.grad(F.cross_entropy(x @ W + b, expected), (W, b))
        W, b = W - rate * of_W, b - rate * of_b
        losses.append(F.cross_entropy(x @ W + b, expected).detach())
    return W.detach(), b.detach(), torch.stack(losses)
