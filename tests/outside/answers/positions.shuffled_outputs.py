# %% right | transposed, indexed, transposed back
def shuffled_outputs(out, order):
    return out.transpose(-1, -2)[..., order].transpose(-1, -2)


# %% wrong | orders counted from 1 | counted_from_one
def shuffled_outputs(out, order):
    return out[..., order - 1, :]


# %% wrong | inverse + first dimension | shuffled_back+sentences_shuffled
def shuffled_outputs(out, order):
    return out[order.argsort()]
# %% wrong | nothing changes | nothing_moves
def shuffled_outputs(out, order):
    return out
# %% wrong | sorted by the order: the inverse | shuffled_back
def shuffled_outputs(out, order):
    return out[..., torch.argsort(order), :]
# %% wrong | the columns
def shuffled_outputs(out, order):
    return out[..., order]
