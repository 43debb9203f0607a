# %% right | numpy.select
import numpy


def mask_words(ids, special, chance, fate, anything, mask_id):
    words, second = (ids.numpy(), fate.numpy())
    chosen = (chance.numpy() < 0.15) & ~special.numpy()
    shown = numpy.select([second < 0.8, second < 0.9], [numpy.full_like(words, mask_id), anything.numpy()], words)
    return (torch.from_numpy(numpy.where(chosen, shown, words)), torch.from_numpy(numpy.where(chosen, words, -100)))


# %% right | a kind of fate by bucketize, then gather from a stack
def mask_words(ids, special, chance, fate, anything, mask_id):
    chosen = (chance < 0.15) & (special == False)
    kind = torch.bucketize(fate, torch.tensor([0.8, 0.9], dtype=fate.dtype))
    kind = torch.where(chosen, kind, 2)
    options = torch.stack([torch.full_like(ids, mask_id), anything, ids])
    return options.gather(0, kind.unsqueeze(0))[0], torch.where(chosen, ids, torch.full_like(ids, -100))


# %% wrong | no label where the random word happens to be the right one | no_label_where_the_word_itself_is_drawn
def mask_words(ids, special, chance, fate, anything, mask_id):
    chosen = (chance < 0.15) & ~special
    chosen = chosen & ~((fate >= 0.8) & (fate < 0.9) & (anything == ids))
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen, ids, -100)


# %% wrong | words that are already MASK are never chosen | mask_never_chosen
def mask_words(ids, special, chance, fate, anything, mask_id):
    chosen = (chance < 0.15) & ~special & (ids != mask_id)
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen, ids, -100)


# %% wrong | labels at a MASK that stood in the text already, too | every_mask_asked_for
def mask_words(ids, special, chance, fate, anything, mask_id):
    chosen = (chance < 0.15) & ~special
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    read = torch.where(chosen, shown, ids)
    return read, torch.where(chosen | (read == mask_id), ids, -100)


# %% wrong | what stays unchanged is not asked for | labels_missing_where_kept
def mask_words(ids, special, chance, fate, anything, mask_id):
    chosen = (chance < 0.15) & ~special
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen & (fate < 0.9), ids, -100)


# %% wrong | fate without chosen | all_but_special_hidden
def mask_words(ids, special, chance, fate, anything, mask_id):
    chosen = (chance < 0.15) & ~special
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    return torch.where(special, ids, shown), torch.where(chosen, ids, -100)


# %% wrong | mask_id hard-coded as 103, BERT's own | mask_id_of_bert
def mask_words(ids, special, chance, fate, anything, mask_id):
    chosen = (chance < 0.15) & ~special
    shown = torch.where(fate < 0.8, 103, torch.where(fate < 0.9, anything, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen, ids, -100)


# %% wrong | special forgotten + labels only where [MASK] is shown | special_chosen+labels_only_where_mask
def mask_words(ids, special, chance, fate, anything, mask_id):
    chosen = chance < 0.15
    shown = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, anything, ids))
    return torch.where(chosen, shown, ids), torch.where(chosen & (fate < 0.8), ids, -100)
