# %% right | windows of two, by unfold
def shift_right(target):
    windows = target.unfold(1, 2, 1)
    return windows[..., 0], windows[..., 1]
# %% right | both rolled, then the last or the first column cut
def shift_right(target):
    return torch.roll(target, 1, dims=1)[:, 1:], torch.roll(target, -1, dims=1)[:, :-1]
# %% wrong | cut at the first row's end | cut_to_the_first_sentence
def shift_right(target):
    length = int((target[0] != PADDING_ID).sum())
    target = target[:, :length]
    return target[:, :-1], target[:, 1:]
# %% wrong | padding in expected turned into -100 | padding_replaced
def shift_right(target):
    expected = target[:, 1:].clone()
    expected[expected == PADDING_ID] = -100
    return target[:, :-1], expected
# %% wrong | rolled without cutting | rolled_to_the_right
def shift_right(target):
    return torch.roll(target, 1, dims=-1), target
# %% wrong | expected without <e> | end_not_expected
def shift_right(target):
    expected = target[:, 1:].clone()
    expected[expected == END_ID] = PADDING_ID
    return target[:, :-1], expected
# %% wrong | swapped, and the whole target is read | swapped+one_word_too_many_read
def shift_right(target):
    return target[:, 1:], target
# %% wrong | swapped, and cut along the batch | swapped+along_the_batch
def shift_right(target):
    return target[1:], target[:-1]
