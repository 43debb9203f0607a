# %% right | torch's own, converted
def label_smoothing(logits, expected, smoothing):
    size = logits.shape[-1]
    return F.cross_entropy(logits, expected, label_smoothing=smoothing * size / (size - 1))
# %% right | a target in float32
def label_smoothing(logits, expected, smoothing):
    target = torch.full(logits.shape, smoothing / (logits.shape[-1] - 1))
    target[torch.arange(len(expected)), expected] = 1 - smoothing
    return -(target * F.log_softmax(logits, dim=1)).sum(1).mean()
# %% wrong | float32 inside and out
def label_smoothing(logits, expected, smoothing):
    log_p = logits.float().log_softmax(dim=-1)
    right = log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1)
    return -((1 - smoothing) * right + smoothing / (logits.shape[-1] - 1) * (log_p.sum(-1) - right)).mean()
# %% wrong | log of the softmax, which has zeros | log_of_softmax
def label_smoothing(logits, expected, smoothing):
    target = torch.full_like(logits, smoothing / (logits.shape[-1] - 1))
    target = target.scatter(-1, expected.unsqueeze(-1), 1 - smoothing)
    return -(target * torch.softmax(logits, dim=-1).log()).sum(dim=-1).mean()
# %% wrong | nothing for the column of the padding, and V - 2 | padding_gets_none
def label_smoothing(logits, expected, smoothing):
    target = torch.full_like(logits, smoothing / (logits.shape[-1] - 2))
    target[:, PADDING_ID] = 0
    target = target.scatter(-1, expected.unsqueeze(-1), 1 - smoothing)
    return -(target * logits.log_softmax(dim=-1)).sum(dim=-1).mean()
# %% wrong | the others' part without a gradient | others_detached
def label_smoothing(logits, expected, smoothing):
    log_p = logits.log_softmax(dim=-1)
    right = log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1)
    others = (log_p.sum(dim=-1) - right).detach()
    return -((1 - smoothing) * right + smoothing / (logits.shape[-1] - 1) * others).mean()
# %% wrong | torch's variant, and words where 0 is expected left out | torchs_variant+padding_left_out
def label_smoothing(logits, expected, smoothing):
    return F.cross_entropy(logits, expected, label_smoothing=smoothing, ignore_index=PADDING_ID)
# %% wrong | divided by V, and summed | shared_by_too_many+summed
def label_smoothing(logits, expected, smoothing):
    target = torch.full_like(logits, smoothing / logits.shape[-1])
    target = target.scatter(-1, expected.unsqueeze(-1), 1 - smoothing)
    return -(target * logits.log_softmax(dim=-1)).sum()
