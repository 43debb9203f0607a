# %% right | a table of all pairs, each counted by hand
def consensus(samples):
    def count(a, b):
        return sum(min(a.count(t), b.count(t)) for t in set(a))
    best = None
    best_score = -1
    for i, a in enumerate(samples):
        score = 0
        for j, b in enumerate(samples):
            if i != j:
                score += 2 * count(a, b) / (len(a) + len(b))
        if score > best_score:
            best_score = score
            best = a
    return best
# %% right | as the harmonic mean of precision and recall, averaged
def consensus(samples):
    def f1(a, b):
        n = (Counter(a) & Counter(b)).total()
        if n == 0:
            return 0
        p, r = n / len(a), n / len(b)
        return 2 * p * r / (p + r)
    means = torch.tensor([[f1(a, b) for b in samples] for a in samples], dtype=torch.float64).mean(1)
    return samples[means.argmax().item()]
# %% wrong | the mode | most_frequent
def consensus(samples):
    return list(Counter(map(tuple, samples)).most_common(1)[0][0])
# %% wrong | sets | each_token_once
def consensus(samples):
    def f1(a, b):
        return 2 * len(set(a) & set(b)) / (len(a) + len(b))
    return max(samples, key=lambda a: sum(f1(a, b) for b in samples))
# %% wrong | raw overlap | shared_alone
def consensus(samples):
    return max(samples, key=lambda a: sum(sum((Counter(a) & Counter(b)).values()) for b in samples))
# %% wrong | precision | precision_alone
def consensus(samples):
    scores = []
    for a in samples:
        scores.append(sum(sum((Counter(a) & Counter(b)).values()) / len(a) for b in samples))
    return samples[scores.index(max(scores))]
# %% wrong | the smallest | least_alike
def consensus(samples):
    f1 = lambda a, b: 2 * sum((Counter(a) & Counter(b)).values()) / (len(a) + len(b))
    return min(samples, key=lambda a: sum(f1(a, b) for b in samples))
# %% wrong | the index instead of the sample
def consensus(samples):
    f1 = lambda a, b: 2 * sum((Counter(a) & Counter(b)).values()) / (len(a) + len(b))
    scores = [sum(f1(a, b) for b in samples) for a in samples]
    return scores.index(max(scores))
