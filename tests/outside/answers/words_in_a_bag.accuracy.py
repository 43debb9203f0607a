# %% right | one-hot answers against one-hot labels
def accuracy(logits, labels):
    classes = logits.shape[-1]
    answers = F.one_hot(logits.argmax(-1), classes)
    truth = F.one_hot(labels.long(), classes)
    return (answers * truth).sum().to(torch.float32) / logits.shape[0]


# %% wrong | argmax over the examples (dim=0): raises unless examples == classes or a size is 1 | over_the_examples
def accuracy(logits, labels):
    return (logits.argmax(dim=0) == labels).float().mean()


# %% wrong | the dtype of the logits: float64 for float64 logits, where float32 is asked
def accuracy(logits, labels):
    return (logits.argmax(dim=-1) == labels).to(logits.dtype).mean()


# %% wrong | values of the maximum compared with the labels, not its index | values_compared
def accuracy(logits, labels):
    return (logits.max(dim=-1).values == labels).float().mean()


# %% wrong | keepdim: [examples, 1] == [examples] compares all with all | all_with_all
def accuracy(logits, labels):
    return (logits.argmax(dim=-1, keepdim=True) == labels).float().mean()


# %% wrong | error rate + Python float | error_rate+python_number
def accuracy(logits, labels):
    return (logits.argmax(dim=-1) != labels).float().mean().item()


# %% wrong | labels from 1 + in per cent | percent+counted_from_one
def accuracy(logits, labels):
    return (logits.argmax(dim=-1) == labels - 1).float().mean() * 100
