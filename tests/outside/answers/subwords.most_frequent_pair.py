# %% right | three filters, one after the other
def most_frequent_pair(counts, ids):
    most = max(counts.values())
    left_id = min(ids[l] for (l, r), c in counts.items() if c == most)
    right_id = min(ids[r] for (l, r), c in counts.items() if c == most and ids[l] == left_id)
    by_id = {number: piece for piece, number in ids.items()}
    return (by_id[left_id], by_id[right_id])
# %% wrong | ties: one packed number with a hard-coded 100: wrong where ids are 100 or more
def most_frequent_pair(counts, ids):
    return min(counts, key=lambda pair: (-counts[pair], ids[pair[0]] * 100 + ids[pair[1]]))
# %% wrong | one packed score: a difference of one in the count is outweighed by ids beyond 10
def most_frequent_pair(counts, ids):
    return max(counts, key=lambda pair: counts[pair] - 0.1 * ids[pair[0]] - 0.001 * ids[pair[1]])
# %% wrong | ties: the ids taken as the order of the dict (place in list(ids)), wrong where the dict is not written in the order of ids
def most_frequent_pair(counts, ids):
    order = list(ids)
    return min(counts, key=lambda pair: (-counts[pair], order.index(pair[0]), order.index(pair[1])))
# %% wrong | the running maximum starts at 1 with >: None where every pair occurs once
def most_frequent_pair(counts, ids):
    best, most = None, 1
    for pair in sorted(counts, key=lambda pair: (ids[pair[0]], ids[pair[1]])):
        if counts[pair] > most:
            best, most = pair, counts[pair]
    return best
# %% wrong | right id first + the largest ids win | largest_ids+right_piece_first
def most_frequent_pair(counts, ids):
    return max(counts, key=lambda pair: (counts[pair], ids[pair[1]], ids[pair[0]]))
