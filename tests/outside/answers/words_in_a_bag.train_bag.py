# %% right | modules of torch, a DataLoader-like slice, sums kept in a Python float
def bag_logits(parameters, ids, mask):
    table, weight, bias = parameters
    words = mask.unsqueeze(-1).to(table.dtype)
    mean = (table[ids] * words).sum(dim=1) / words.sum(dim=1)
    return mean @ weight.T + bias


def train_bag(parameters, ids, mask, labels, orders, batch_size, rate):
    table, weight, bias = [p.detach().clone().requires_grad_(True) for p in parameters]
    adam = torch.optim.Adam([table, weight, bias], rate)
    losses = []
    for epoch in range(orders.shape[0]):
        i, summed = 0, 0.0
        while i < orders.shape[1]:
            b = orders[epoch, i : i + batch_size]
            loss = F.cross_entropy(bag_logits([table, weight, bias], ids[b], mask[b]), labels[b])
            adam.zero_grad()
            loss.backward()
            adam.step()
            summed += loss.item() * b.numel()
            i += batch_size
        losses.append(summed / orders.shape[1])
    return [table.detach(), weight.detach(), bias.detach()], torch.tensor(losses, dtype=table.dtype)


# %% right | shuffles everything first, then slices; loss of each sentence kept
def bag_logits(parameters, ids, mask):
    table, weight, bias = parameters
    words = mask.unsqueeze(-1).to(table.dtype)
    mean = (table[ids] * words).sum(dim=1) / words.sum(dim=1)
    return mean @ weight.T + bias


def train_bag(parameters, ids, mask, labels, orders, batch_size, rate):
    ps = [torch.nn.Parameter(p.clone()) for p in parameters]
    opt = torch.optim.Adam(ps, lr=rate)
    history = []
    for order in orders:
        every = []
        for a, m, y in zip(ids[order].split(batch_size), mask[order].split(batch_size), labels[order].split(batch_size)):
            each = F.cross_entropy(bag_logits(ps, a, m), y, reduction="none")
            opt.zero_grad()
            each.mean().backward()
            opt.step()
            every.append(each.detach())
        history.append(torch.cat(every).mean())
    return [p.data for p in ps], torch.stack(history)


# %% wrong | mean of the batches' means | mean_of_means
def bag_logits(parameters, ids, mask):
    table, weight, bias = parameters
    words = mask.unsqueeze(-1).to(table.dtype)
    mean = (table[ids] * words).sum(dim=1) / words.sum(dim=1)
    return mean @ weight.T + bias


def train_bag(parameters, ids, mask, labels, orders, batch_size, rate):
    ps = [p.clone().requires_grad_() for p in parameters]
    opt = torch.optim.Adam(ps, lr=rate)
    out = []
    for order in orders:
        losses = []
        for b in order.split(batch_size):
            loss = F.cross_entropy(bag_logits(ps, ids[b], mask[b]), labels[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.detach())
        out.append(sum(losses) / len(losses))
    return [p.detach() for p in ps], torch.stack(out)


# %% wrong | zero_grad left out | gradients_add_up
def bag_logits(parameters, ids, mask):
    table, weight, bias = parameters
    words = mask.unsqueeze(-1).to(table.dtype)
    mean = (table[ids] * words).sum(dim=1) / words.sum(dim=1)
    return mean @ weight.T + bias


def train_bag(parameters, ids, mask, labels, orders, batch_size, rate):
    ps = [p.clone().requires_grad_() for p in parameters]
    opt = torch.optim.Adam(ps, lr=rate)
    out = []
    for order in orders:
        total = 0
        for b in order.split(batch_size):
            loss = F.cross_entropy(bag_logits(ps, ids[b], mask[b]), labels[b])
            loss.backward()
            opt.step()
            total += loss.detach() * len(b)
        out.append(total / len(order))
    return [p.detach() for p in ps], torch.stack(out)


# %% wrong | trains the caller's own tensors
def bag_logits(parameters, ids, mask):
    table, weight, bias = parameters
    words = mask.unsqueeze(-1).to(table.dtype)
    mean = (table[ids] * words).sum(dim=1) / words.sum(dim=1)
    return mean @ weight.T + bias


def train_bag(parameters, ids, mask, labels, orders, batch_size, rate):
    for p in parameters:
        p.requires_grad_()
    opt = torch.optim.Adam(parameters, lr=rate)
    out = []
    for order in orders:
        total = 0
        for b in order.split(batch_size):
            loss = F.cross_entropy(bag_logits(parameters, ids[b], mask[b]), labels[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.detach() * len(b)
        out.append(total / len(order))
    return [p.detach() for p in parameters], torch.stack(out)


# %% wrong | a new optimizer inside the epoch loop | new_optimizer_each_epoch
def bag_logits(parameters, ids, mask):
    table, weight, bias = parameters
    words = mask.unsqueeze(-1).to(table.dtype)
    mean = (table[ids] * words).sum(dim=1) / words.sum(dim=1)
    return mean @ weight.T + bias


def train_bag(parameters, ids, mask, labels, orders, batch_size, rate):
    ps = [p.clone().requires_grad_() for p in parameters]
    out = torch.zeros(len(orders), dtype=ps[0].dtype)
    for e, order in enumerate(orders):
        opt = torch.optim.Adam(ps, lr=rate)
        for start in range(0, len(order), batch_size):
            b = order[start : start + batch_size]
            opt.zero_grad()
            loss = F.cross_entropy(bag_logits(ps, ids[b], mask[b]), labels[b], reduction="sum")
            (loss / len(b)).backward()
            opt.step()
            out[e] += loss.detach() / len(order)
    return [p.detach() for p in ps], out


# %% wrong | labels keep their old order | labels_in_the_old_order
def bag_logits(parameters, ids, mask):
    table, weight, bias = parameters
    words = mask.unsqueeze(-1).to(table.dtype)
    mean = (table[ids] * words).sum(dim=1) / words.sum(dim=1)
    return mean @ weight.T + bias


def train_bag(parameters, ids, mask, labels, orders, batch_size, rate):
    ps = [p.clone().requires_grad_() for p in parameters]
    opt = torch.optim.Adam(ps, lr=rate)
    out = []
    for order in orders:
        total, x, m = 0, ids[order], mask[order]
        for s in range(0, len(order), batch_size):
            e = s + batch_size
            loss = F.cross_entropy(bag_logits(ps, x[s:e], m[s:e]), labels[s:e])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.detach() * len(x[s:e])
        out.append(total / len(order))
    return [p.detach() for p in ps], torch.stack(out)
