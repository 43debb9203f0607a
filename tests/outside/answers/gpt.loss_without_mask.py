# %% right | padded
def loss_without_mask(honest):
    return F.pad(honest[..., -1:], (honest.shape[-1] - 1, 0))
# %% wrong | first and last position honest | zero_but_the_ends
def loss_without_mask(honest):
    loss = honest.clone()
    loss[..., 1:-1] = 0
    return loss
# %% wrong | the mean everywhere | mean_everywhere
def loss_without_mask(honest):
    return honest.mean(dim=-1, keepdim=True).expand_as(honest).clone()
# %% wrong | zeros along the first dimension: right without a batch only | last_text_kept
def loss_without_mask(honest):
    loss = torch.zeros_like(honest)
    loss[-1] = honest[-1]
    return loss
# %% wrong | zero, at the last position the mean of the honest losses | last_as_the_mean
def loss_without_mask(honest):
    loss = torch.zeros_like(honest)
    loss[..., -1] = honest.mean(dim=-1)
    return loss
# %% wrong | a text of one word: zero, though it is the last position | zero_at_a_single_word
def loss_without_mask(honest):
    loss = torch.zeros_like(honest)
    if honest.shape[-1] > 1:
        loss[..., -1] = honest[..., -1]
    return loss
# %% wrong | nearly zero (0.01) in place of zero
def loss_without_mask(honest):
    loss = torch.full_like(honest, 0.01)
    loss[..., -1] = honest[..., -1]
    return loss
