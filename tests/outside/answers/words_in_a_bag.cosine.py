# %% right | the whole Gram matrix, its diagonal has the squared lengths
def cosine_similarities(table, i):
    gram = table @ table.T
    lengths = gram.diagonal().sqrt()
    return (gram / torch.outer(lengths, lengths))[i]


# %% wrong | norm of the whole table instead of each row's | length_of_the_table
def cosine_similarities(table, i):
    return table @ table[i] / (table.norm() * table[i].norm())


# %% wrong | precedence: divides by one length, multiplies by the other | multiplied_by_own_length
def cosine_similarities(table, i):
    lengths = table.norm(dim=-1)
    return table @ table[i] / lengths * lengths[i]


# %% wrong | keepdim kept: the division broadcasts to [vocabulary, vocabulary] | lengths_as_a_column
def cosine_similarities(table, i):
    lengths = table.norm(dim=-1, keepdim=True)
    return table @ table[i] / (lengths * lengths[i])


# %% wrong | words counted from 1: cosine with word i - 1 | counted_from_one
def cosine_similarities(table, i):
    lengths = table.norm(dim=-1)
    return table @ table[i - 1] / (lengths * lengths[i - 1])


# %% wrong | squared lengths + divided by word i's only | own_length_twice
def cosine_similarities(table, i):
    return table @ table[i] / (table[i] @ table[i])


# %% wrong | words counted from 1 + only the dot product | dot_product+counted_from_one
def cosine_similarities(table, i):
    return table @ table[i - 1]


# %% wrong | norms kept under the number of words
norms = {}


def cosine_similarities(table, i):
    if len(table) not in norms:
        norms[len(table)] = table.norm(dim=1)
    n = norms[len(table)]
    return table @ table[i] / (n * n[i])
