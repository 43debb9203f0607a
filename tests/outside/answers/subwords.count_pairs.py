# %% right | a sum for each different pair
def count_pairs(words):
    pairs = {(w[i - 1], w[i]) for w in words for i in range(1, len(w))}
    return {p: sum(n * sum(q == p for q in zip(w, w[1:])) for w, n in words.items()) for p in pairs}
# %% wrong | each word once + keys are joined strings | every_word_once+joined_strings
def count_pairs(words):
    counts = Counter()
    for pieces in words:
        for i in range(len(pieces) - 1):
            counts[pieces[i] + pieces[i + 1]] += 1
    return counts
# %% wrong | each pair once a word (set) + the times ignored: in how many words the pair is | every_word_once+once_in_a_word
def count_pairs(words):
    counts = Counter()
    for pieces in words:
        counts.update(set(zip(pieces, pieces[1:])))
    return counts
# %% wrong | the last pair is lost + = in place of += | last_word_only+last_pair_forgotten
def count_pairs(words):
    counts = {}
    for pieces, times in words.items():
        for i in range(len(pieces) - 2):
            counts[(pieces[i], pieces[i + 1])] = times
    return counts
# %% wrong | words touch (all pieces in one list) + the times ignored | every_word_once+across_words
def count_pairs(words):
    line = [piece for pieces in words for piece in pieces]
    return Counter(zip(line, line[1:]))
# %% wrong | starts at index 1: the pair of the mark and the first letter is lost | first_pair_forgotten
def count_pairs(words):
    counts = Counter()
    for pieces, times in words.items():
        for i in range(1, len(pieces) - 1):
            counts[pieces[i], pieces[i + 1]] += times
    return counts
