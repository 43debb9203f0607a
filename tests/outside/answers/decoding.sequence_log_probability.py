# %% right | torch.where on a comparison instead of gather
def sequence_log_probability(logits, expected):
    is_it = expected.unsqueeze(-1) == torch.arange(logits.size(-1))
    lp = F.log_softmax(logits, -1)
    return torch.where(is_it, lp, torch.zeros_like(lp)).sum(dim=(-2, -1))
# %% wrong | sum over the first dimension: right without a batch only | first_dimension_added_up
def sequence_log_probability(logits, expected):
    log_p = torch.log_softmax(logits, dim=-1)
    picked = log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1)
    return picked.sum(dim=0)
# %% wrong | shifted the other way: row t + 1 judged by word t | shifted_back
def sequence_log_probability(logits, expected):
    log_p = torch.log_softmax(logits[..., 1:, :], dim=-1)
    return log_p.gather(-1, expected[..., :-1].unsqueeze(-1)).squeeze(-1).sum(dim=-1)
# %% wrong | the last word (<e>) is left out | last_word_left_out
def sequence_log_probability(logits, expected):
    log_p = torch.log_softmax(logits, dim=-1)
    picked = log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1)
    return picked[..., :-1].sum(dim=-1)
# %% wrong | logsumexp by hand without the largest subtracted: exp overflows in float32 at a logit of 120 (and float64 at 1000) | exp_overflows_in_the_sum
def sequence_log_probability(logits, expected):
    log_p = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    return log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1).sum(dim=-1)
# %% wrong | one largest number subtracted for the whole tensor: rows far below it underflow to log 0 | one_largest_for_all
def sequence_log_probability(logits, expected):
    shifted = logits - logits.max()
    log_p = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    return log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1).sum(dim=-1)
# %% wrong | the loss: mean over the words + sign | mean_over_the_words+sign_turned
def sequence_log_probability(logits, expected):
    log_p = torch.log_softmax(logits, dim=-1)
    picked = log_p.gather(-1, expected.unsqueeze(-1)).squeeze(-1)
    return -picked.mean(dim=-1)
# %% wrong | no log_softmax + shifted by one | logits_added+shifted_once_more
def sequence_log_probability(logits, expected):
    return logits[..., :-1, :].gather(-1, expected[..., 1:].unsqueeze(-1)).squeeze(-1).sum(dim=-1)
