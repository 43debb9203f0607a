# %% right | numpy, unravel_index
import numpy


def best_spans(logits, max_words=None):
    scores = logits.numpy()
    words = scores.shape[2]
    table = scores[:, 0, :, None] + scores[:, 1, None, :]
    length = numpy.arange(words)[None, :] - numpy.arange(words)[:, None] + 1
    impossible = (length < 1) | (length > (words if max_words is None else max_words))
    table = numpy.where(impossible, -numpy.inf, table)
    best = table.reshape(len(table), -1).argmax(axis=1)
    return torch.from_numpy(numpy.stack(numpy.unravel_index(best, (words, words)), axis=1).astype(numpy.int64))


# %% right | linear time without a limit
def best_spans(logits, max_words=None):
    first, last = logits[:, 0], logits[:, 1]
    n = first.shape[1]
    if max_words is None or max_words >= n:
        best, where = first.cummax(dim=1)
    else:
        padded = F.pad(first, (max_words - 1, 0), value=-torch.inf)
        best, where = padded.unfold(1, max_words, 1).max(dim=2)
        where = where + torch.arange(n, device=logits.device) - (max_words - 1)
    end = (best + last).argmax(dim=1, keepdim=True)
    return torch.cat([where.gather(1, end), end], dim=1)


# %% wrong | the rest is filled with the smallest score, not of the sums | impossible_spans_at_zero
def best_spans(logits, max_words=None):
    n = logits.shape[-1]
    table = logits[:, 0].unsqueeze(2) + logits[:, 1].unsqueeze(1)
    ok = torch.ones(n, n).triu().bool()
    if max_words is not None:
        ok = ok.tril(max_words - 1)
    flat = table.masked_fill(~ok, logits.min().item()).flatten(1).argmax(1)
    return torch.stack([flat // n, flat % n], 1)


# %% wrong | float32 inside
def best_spans(logits, max_words=None):
    logits = logits.float()
    n = logits.shape[-1]
    table = logits[:, 0].unsqueeze(2) + logits[:, 1].unsqueeze(1)
    ok = torch.ones(n, n).triu().bool()
    if max_words is not None:
        ok = ok.tril(max_words - 1)
    flat = table.masked_fill(~ok, -torch.inf).flatten(1).argmax(1)
    return torch.stack([flat // n, flat % n], 1)


# %% wrong | the rest is filled with -1 | impossible_spans_at_zero
def best_spans(logits, max_words=None):
    n = logits.shape[-1]
    table = logits[:, 0].unsqueeze(2) + logits[:, 1].unsqueeze(1)
    ok = torch.ones(n, n).triu().bool()
    if max_words is not None:
        ok = ok.tril(max_words - 1)
    flat = table.masked_fill(~ok, -1.0).flatten(1).argmax(1)
    return torch.stack([flat // n, flat % n], 1)


# %% wrong | triangle multiplied | triangle_multiplied
def best_spans(logits, max_words=None):
    n = logits.shape[-1]
    table = logits[:, 0].unsqueeze(2) + logits[:, 1].unsqueeze(1)
    ok = torch.ones(n, n, dtype=logits.dtype).triu()
    if max_words is not None:
        ok = ok.tril(max_words - 1)
    flat = (table * ok).flatten(1).argmax(1)
    return torch.stack([flat // n, flat % n], 1)


# %% wrong | max_words as a limit of the places | first_words_only
def best_spans(logits, max_words=None):
    x = logits if max_words is None else logits[:, :, :max_words]
    n = x.shape[-1]
    table = x[:, 0].unsqueeze(2) + x[:, 1].unsqueeze(1)
    flat = table.masked_fill(~torch.ones(n, n).triu().bool(), -torch.inf).flatten(1).argmax(1)
    return torch.stack([flat // n, flat % n], 1)


# %% wrong | single words left out + row and column swapped | one_word_excluded+last_and_first
def best_spans(logits, max_words=None):
    n = logits.shape[-1]
    table = logits[:, 0].unsqueeze(2) + logits[:, 1].unsqueeze(1)
    ok = torch.ones(n, n).triu(1).bool()
    if max_words is not None:
        ok = ok.tril(max_words - 1)
    flat = table.masked_fill(~ok, -torch.inf).flatten(1).argmax(1)
    return torch.stack([flat % n, flat // n], 1)
