# %% right | until every word is one piece, the next words built one by one
def learn_merges(words, ids, merges, count, choose, join):
    """Stops when every word is one piece, and builds the next words one by one."""
    ids = ids.copy()
    learned = []
    while len(learned) < merges and any((len(pieces) > 1 for pieces in words)):
        learned += [choose(count(words), ids)]
        ids.setdefault("".join(learned[-1]), len(ids))
        following = {}
        for pieces in words:
            following[join(pieces, learned[-1])] = words[pieces]
        words = following
    return learned


# %% right | the words are cut anew from the given ones in every round, replaying all pairs
def learn_merges(words, ids, merges, count, choose, join):
    ids = dict(ids)
    pairs = []
    while len(pairs) < merges:
        now = {}
        for pieces, times in words.items():
            for pair in pairs:
                pieces = join(pieces, pair)
            now[pieces] = times
        counts = count(now)
        if len(counts) == 0:
            break
        pairs.append(choose(counts, ids))
        piece = "".join(pairs[-1])
        ids[piece] = ids[piece] if piece in ids else len(ids)
    return pairs


# %% wrong | a joined piece that has an id gets a new one (shows in a tie after abc was made a second way, or is in ids at the start) | known_piece_gets_a_new_id
def learn_merges(words, ids, merges, count, choose, join):
    ids = dict(ids)
    pairs = []
    for _ in range(merges):
        counts = count(words)
        if not counts:
            break
        pair = choose(counts, ids)
        pairs.append(pair)
        words = {join(pieces, pair): times for pieces, times in words.items()}
        ids["".join(pair)] = len(ids)
    return pairs


# %% wrong | all joined pieces get the same id, the length at the start: ties between them go by the dict | one_id_for_all_joined_pieces
def learn_merges(words, ids, merges, count, choose, join):
    start = len(ids)
    ids = dict(ids)
    pairs = []
    for _ in range(merges):
        counts = count(words)
        if not counts:
            break
        pair = choose(counts, ids)
        pairs.append(pair)
        words = {join(pieces, pair): times for pieces, times in words.items()}
        ids.setdefault("".join(pair), start)
    return pairs


# %% wrong | counts a round by the number of new ids: a pair that makes a known piece does not count, so too many pairs (shows only where words or ids hold longer pieces at the start)
def learn_merges(words, ids, merges, count, choose, join):
    start = len(ids)
    ids = dict(ids)
    pairs = []
    while len(ids) - start < merges:
        counts = count(words)
        if not counts:
            break
        pair = choose(counts, ids)
        pairs.append(pair)
        words = {join(pieces, pair): times for pieces, times in words.items()}
        ids.setdefault("".join(pair), len(ids))
    return pairs


# %% wrong | a pair that makes a known piece is joined but not listed (shows only where words or ids hold longer pieces at the start)
def learn_merges(words, ids, merges, count, choose, join):
    ids = dict(ids)
    pairs = []
    while len(pairs) < merges:
        counts = count(words)
        if not counts:
            break
        pair = choose(counts, ids)
        piece = "".join(pair)
        if piece not in ids:
            ids[piece] = len(ids)
            pairs.append(pair)
        words = {join(pieces, pair): times for pieces, times in words.items()}
    return pairs


# %% wrong | the pairs are kept in a dict by what they spell: of two that spell the same (abc) only the first is listed (shows only where words or ids hold longer pieces at the start) | known_piece_not_listed
def learn_merges(words, ids, merges, count, choose, join):
    ids = dict(ids)
    pairs = {}
    for _ in range(merges):
        counts = count(words)
        if not counts:
            break
        pair = choose(counts, ids)
        pairs.setdefault("".join(pair), pair)
        words = {join(pieces, pair): times for pieces, times in words.items()}
        ids.setdefault("".join(pair), len(ids))
    return list(pairs.values())
