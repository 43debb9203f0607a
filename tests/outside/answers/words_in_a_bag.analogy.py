# %% right | a dict of rows, cosine_similarity of torch, candidates one by one
def analogy(table, words, a, b, c, count):
    vectors = {w: table[n] / torch.sqrt((table[n] ** 2).sum()) for n, w in enumerate(words)}
    goal = vectors[b] - vectors[a] + vectors[c]
    scored = []
    for word, vector in vectors.items():
        if word in [a, b, c]:
            continue
        scored.append((torch.cosine_similarity(goal, vector, dim=0).item(), word))
    scored.sort(reverse=True)
    return [word for _, word in scored[:count]]


# %% right | argsort of all, then filtered
def analogy(table, words, a, b, c, count):
    table = F.normalize(table, p=2, dim=1)
    ia, ib, ic = map(words.index, (a, b, c))
    sims = torch.matmul(table, table[ib] + table[ic] - table[ia])
    ranking = torch.argsort(sims, descending=True)
    return [words[int(n)] for n in ranking if int(n) not in (ia, ib, ic)][:count]


# %% wrong | filters after taking the first `count`: too few words come back
def analogy(table, words, a, b, c, count):
    unit = table / table.norm(dim=1, keepdim=True)
    target = unit[words.index(b)] - unit[words.index(a)] + unit[words.index(c)]
    best = (unit @ target).topk(count).indices.tolist()
    return [words[n] for n in best if words[n] not in (a, b, c)]


# %% wrong | leaves nothing out | asked_words_kept
def analogy(table, words, a, b, c, count):
    unit = F.normalize(table, dim=-1)
    target = F.normalize(unit[words.index(b)] - unit[words.index(a)] + unit[words.index(c)], dim=0)
    return [words[n] for n in (unit @ target).argsort(descending=True)[:count]]


# %% wrong | never scaled, plain dot product | lengths_kept
def analogy(table, words, a, b, c, count):
    target = table[words.index(b)] - table[words.index(a)] + table[words.index(c)]
    sims = table @ target
    for w in (a, b, c):
        sims[words.index(w)] = float("-inf")
    return [words[n] for n in sims.topk(count)[1]]


# %% wrong | vectors with their lengths, cosine only at the end | raw_directions
def analogy(table, words, a, b, c, count):
    target = table[words.index(b)] - table[words.index(a)] + table[words.index(c)]
    sims = torch.cosine_similarity(table, target[None], dim=1)
    order = sims.argsort(descending=True).tolist()
    return [words[n] for n in order if words[n] not in {a, b, c}][:count]


# %% wrong | a and b the wrong way round | wrong_way_round
def analogy(table, words, a, b, c, count):
    unit = F.normalize(table, dim=-1)
    vector = lambda w: unit[words.index(w)]
    sims = unit @ (vector(a) - vector(b) + vector(c))
    sims[[words.index(w) for w in (a, b, c)]] = -10
    return [words[n] for n in sims.topk(count).indices]


# %% wrong | smallest cosine left out by 0, which some others are below
def analogy(table, words, a, b, c, count):
    unit = F.normalize(table, dim=-1)
    i, j, k = words.index(a), words.index(b), words.index(c)
    sims = unit @ (unit[j] - unit[i] + unit[k])
    sims[[i, j, k]] = 0
    return [words[n] for n in sims.topk(count).indices]
