# %% right | a list of ranks, smallest first, again and again
def encode_bytes(words, merges, letters, join):
    rank = dict(zip(merges, range(len(merges))))
    result = []
    for w in words:
        parts = tuple([letters[b] for b in bytearray(w, "utf-8")])
        while len(parts) > 1:
            options = sorted((rank.get(p, len(merges)), p) for p in zip(parts[:-1], parts[1:]))
            if options[0][0] == len(merges):
                break
            parts = join(parts, options[0][1])
        result.extend(parts)
    return result
# %% right | its own merging, on lists, with index()
def encode_bytes(words, merges, letters, join):
    result = []
    for word in words:
        parts = [letters[b] for b in word.encode("utf-8")]
        changed = True
        while changed:
            changed = False
            for left, right in merges:
                i, new = 0, []
                while i < len(parts):
                    if parts[i : i + 2] == [left, right]:
                        new.append(left + right)
                        i, changed = i + 2, True
                    else:
                        new.append(parts[i])
                        i += 1
                parts = new
        result += parts
    return result
# %% wrong | the letters are looked up by code point | code_points
def encode_bytes(words, merges, letters, join):
    result = []
    for word in words:
        tokens = tuple(letters[ord(c)] for c in word)
        for pair in merges:
            tokens = join(tokens, pair)
        result.extend(tokens)
    return result
# %% wrong | exercise 6 with another start: characters | characters
def encode_bytes(words, merges, letters, join):
    result = []
    for word in words:
        tokens = tuple(word)
        for pair in merges:
            tokens = join(tokens, pair)
        result.extend(tokens)
    return result
# %% wrong | the first known pair from the left is merged | leftmost_pair_first
def encode_bytes(words, merges, letters, join):
    result = []
    for word in words:
        tokens = tuple(letters[b] for b in word.encode())
        i = 0
        while i < len(tokens) - 1:
            if (tokens[i], tokens[i + 1]) in merges:
                tokens = join(tokens, (tokens[i], tokens[i + 1]))
                i = 0
            else:
                i += 1
        result.extend(tokens)
    return result
# %% wrong | the result of join is thrown away | nothing_merged
def encode_bytes(words, merges, letters, join):
    result = []
    for word in words:
        tokens = tuple(letters[b] for b in word.encode())
        for pair in merges:
            join(tokens, pair)
        result.extend(tokens)
    return result
# %% wrong | the whole text in one go | across_words
def encode_bytes(words, merges, letters, join):
    tokens = tuple(letters[b] for b in "".join(words).encode())
    for pair in merges:
        tokens = join(tokens, pair)
    return list(tokens)
# %% wrong | only the best pair of each word, once | merged_once
def encode_bytes(words, merges, letters, join):
    result = []
    for word in words:
        tokens = tuple(letters[b] for b in word.encode())
        pairs = [p for p in merges if p in list(zip(tokens, tokens[1:]))]
        if pairs:
            tokens = join(tokens, pairs[0])
        result.extend(tokens)
    return result
