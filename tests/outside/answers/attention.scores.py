# %% right | keys times queries, turned round
def dot_product_scores(q, k):
    return torch.matmul(k, q.mT).mT


# %% wrong | k.T: right for a matrix, wrong for a batch (raises, or wrong batch order) | all_dimensions_reversed
def dot_product_scores(q, k):
    return q @ k.T


# %% wrong | no transpose: q @ k (raises unless keys == d_head) | not_transposed
def dot_product_scores(q, k):
    return q @ k


# %% wrong | each query with its own key only (raises unless as many queries as keys, result [..., queries]) | one_key_for_each_query
def dot_product_scores(q, k):
    return (q * k).sum(dim=-1)


# %% wrong | a batch of one is squeezed away
def dot_product_scores(q, k):
    return (q @ k.transpose(-2, -1)).squeeze(0)


# %% wrong | keys of the first call with this shape are kept
_keys = {}


def dot_product_scores(q, k):
    kept = _keys.setdefault((tuple(k.shape), k.dtype), k.transpose(-2, -1))
    return q @ kept


# %% wrong | result transposed + scaled | keys_as_rows+scaled_too_early
def dot_product_scores(q, k):
    return k @ q.transpose(-2, -1) / math.sqrt(q.shape[-1])


# %% wrong | scaled + softmax | scaled_too_early+softmax_too_early
def dot_product_scores(q, k):
    return torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, dim=-1)


# %% wrong | results kept under the shapes
kept = {}


def dot_product_scores(q, k):
    sizes = q.shape, k.shape, q.dtype
    if sizes not in kept:
        kept[sizes] = q @ k.mT
    return kept[sizes]
