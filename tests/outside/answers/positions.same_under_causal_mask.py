# %% right | thinks of the words BEHIND: suffixes as sets (same answer, since the complements agree)
def same_under_causal_mask(order):
    places = order.tolist()
    n = len(places)
    return torch.tensor([set(range(p, n)) == set(places[i:]) for i, p in enumerate(places)])


# %% wrong | the words BEFORE are the same set, itself not asked (wrong e.g. for 0 2 1: place 1 holds another word) | words_before_alone
def same_under_causal_mask(order):
    places = order.tolist()
    return torch.tensor([set(places[:i]) == set(range(i)) for i in range(len(places))])


# %% wrong | looks at the words behind instead of before + own place not asked | words_before_alone
def same_under_causal_mask(order):
    places = order.tolist()
    n = len(places)
    return torch.tensor([set(range(i, n)) == set(places[i:]) for i in range(n)])


# %% wrong | all or none: only if nothing moved at all | all_or_none
def same_under_causal_mask(order):
    unchanged = torch.equal(order, torch.arange(len(order)))
    return torch.full((len(order),), unchanged)


# %% wrong | every word that has lost nothing it saw (subset): words that see more count as same | nothing_lost_is_harmless
def same_under_causal_mask(order):
    places = order.tolist()
    return torch.tensor([set(range(p + 1)) <= set(places[: i + 1]) for i, p in enumerate(places)])


# %% wrong | words that moved forward or stayed keep their vectors (order >= place) | moved_forward_is_harmless
def same_under_causal_mask(order):
    return order >= torch.arange(len(order))


# %% wrong | kept place only + int64 | not_moved+numbers
def same_under_causal_mask(order):
    return (order == torch.arange(len(order))).long()


# %% wrong | words before in their old order too + inverted | order_before_it_counts+inverted
def same_under_causal_mask(order):
    kept = order == torch.arange(len(order))
    return ~kept.long().cumprod(dim=0).bool()
