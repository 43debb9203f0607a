# %% right | cross_entropy of what is no padding
def loss_and_perplexity(logits, targets):
    keep = targets != PADDING_ID
    nll = F.cross_entropy(logits[keep], targets[keep])
    return nll, nll.exp()
# %% right | a product with the mask, and a boolean table of the right words
def loss_and_perplexity(logits, targets):
    log_p = F.log_softmax(logits, dim=2)
    is_right = torch.arange(log_p.shape[-1], device=log_p.device) == targets.unsqueeze(-1)
    nll = -log_p[is_right].reshape(targets.shape)
    mask = (targets != 0).to(nll.dtype)
    mean = (nll * mask).sum() / mask.sum()
    return mean, math.e**mean
# %% right | padding made NaN, which nanmean leaves out
def loss_and_perplexity(logits, targets):
    nll = torch.logsumexp(logits, -1) - torch.take_along_dim(logits, targets[..., None], -1)[..., 0]
    nll = torch.where(targets == PADDING_ID, float("nan"), nll)
    return nll.nanmean(), nll.nanmean().exp()
# %% wrong | float32 whatever came in
def loss_and_perplexity(logits, targets):
    nll = F.cross_entropy(logits.transpose(1, 2).float(), targets, ignore_index=PADDING_ID)
    return nll, nll.exp()
# %% wrong | padding counted | padding_counted
def loss_and_perplexity(logits, targets):
    nll = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    return nll, torch.exp(nll)
# %% wrong | through the softmax, which underflows | log_of_softmax
def loss_and_perplexity(logits, targets):
    p = torch.softmax(logits, dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    nll = -torch.log(p[targets != PADDING_ID]).mean()
    return nll, nll.exp()
# %% wrong | the mean over sentences | mean_of_sentences
def loss_and_perplexity(logits, targets):
    losses = []
    for rows, right in zip(logits, targets):
        losses.append(F.cross_entropy(rows[right != PADDING_ID], right[right != PADDING_ID]))
    nll = torch.stack(losses).mean()
    return nll, nll.exp()
# %% wrong | logits taken for log-probabilities | not_normalised
def loss_and_perplexity(logits, targets):
    picked = logits.gather(-1, targets[:, :, None])[:, :, 0]
    nll = -picked[targets > 0].mean()
    return nll, nll.exp()
# %% wrong | the loss as a number, without a gradient
def loss_and_perplexity(logits, targets):
    keep = targets != PADDING_ID
    nll = F.cross_entropy(logits[keep], targets[keep]).item()
    return torch.tensor(nll), torch.tensor(math.exp(nll))
# %% wrong | a sum, and exp of minus that
def loss_and_perplexity(logits, targets):
    keep = targets != PADDING_ID
    nll = F.cross_entropy(logits[keep], targets[keep], reduction="sum")
    return nll, torch.exp(-nll)
# %% wrong | the perplexity alone first | swapped
def loss_and_perplexity(logits, targets):
    nll = F.cross_entropy(logits.permute(0, 2, 1), targets, ignore_index=0)
    return nll.exp(), nll
