# %% right | recursion over the dimensions of ids
def look_up(table, ids):
    if ids.dim() == 1:
        return table.index_select(0, ids)
    return torch.stack([look_up(table, part) for part in ids])


# %% wrong | id 0 set to zeros, as if padding should vanish: shows where id 0 occurs | row_0_zeroed
def look_up(table, ids):
    x = table[ids]
    return x * (ids != 0).unsqueeze(-1)


# %% wrong | remembers the first table for the same ids: a second table with the same ids gets the first one's rows
_seen = {}


def look_up(table, ids):
    key = (tuple(ids.shape), tuple(ids.flatten().tolist()))
    if key not in _seen:
        _seen[key] = table[ids]
    return _seen[key]


# %% wrong | zip with the table: the first dimension of ids is cut to the size of the vocabulary (shows for a sentence, or batch, longer than that)
def look_up(table, ids):
    return torch.stack([table[i] for i, _ in zip(ids, table)])


# %% wrong | ids counted from 1 + result transposed | counted_from_one+transposed
def look_up(table, ids):
    return table[ids - 1].transpose(-1, -2)


# %% wrong | repeated words dropped + ids counted from 1 | counted_from_one+each_word_once
def look_up(table, ids):
    return table[torch.unique(ids) - 1]
