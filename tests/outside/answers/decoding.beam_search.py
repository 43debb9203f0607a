# %% right | tensors: scores [held, vocabulary] flattened and sorted, finished set aside, others move up
def beam_search(step, start_id, end_id, beams, max_length):
    texts = torch.tensor([[start_id]])
    scores = torch.zeros(1, dtype=torch.float64)
    finished = []
    for _ in range(max_length):
        lp = torch.stack([torch.log_softmax(step(text).double(), -1) for text in texts])
        vocabulary = lp.shape[1]
        values, places = (scores[:, None] + lp).flatten().sort(descending=True)
        new_texts, new_scores = [], []
        for value, place in zip(values.tolist(), places.tolist()):
            if len(new_texts) == beams or value == -math.inf:
                break
            row, word = divmod(place, vocabulary)
            longer = torch.cat([texts[row], torch.tensor([word])])
            if word == end_id:
                finished.append((value, longer))
            else:
                new_texts.append(longer)
                new_scores.append(value)
        if not new_texts:
            texts = []
            break
        texts, scores = torch.stack(new_texts), torch.tensor(new_scores, dtype=torch.float64)
    for row in range(len(texts)):
        finished.append((scores[row].item(), texts[row]))
    return max(finished, key=lambda pair: pair[0])[1][1:]
# %% wrong | probabilities multiplied in float32: underflow to 0 for long sentences and next to impossible words
def beam_search(step, start_id, end_id, beams, max_length):
    held = [(1.0, [start_id])]
    for _ in range(max_length):
        candidates = []
        for score, words in held:
            if len(words) > 1 and words[-1] == end_id:
                candidates.append((score, words))
                continue
            log_p = torch.softmax(step(torch.tensor(words)).float(), dim=-1)
            for word in range(len(log_p)):
                candidates.append((score * log_p[word], [*words, word]))
        held = sorted(candidates, key=lambda pair: float(pair[0]), reverse=True)[:beams]
    best = max(held, key=lambda pair: float(pair[0]))[1]
    return torch.tensor(best[1:], dtype=torch.long)
# %% wrong | finished sentences are thrown away, not kept | finished_dropped
def beam_search(step, start_id, end_id, beams, max_length):
    held = [(0.0, [start_id])]
    for _ in range(max_length):
        candidates = []
        for score, words in held:
            if len(words) > 1 and words[-1] == end_id:
                continue
            log_p = torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist()
            for word in range(len(log_p)):
                candidates.append((score + log_p[word], [*words, word]))
        if not candidates:
            break
        held = sorted(candidates, reverse=True)[:beams]
    best = max(held)[1]
    return torch.tensor(best[1:], dtype=torch.long)
# %% wrong | keeps one too many | one_beam_more
def beam_search(step, start_id, end_id, beams, max_length):
    held = [(0.0, [start_id])]
    for _ in range(max_length):
        candidates = []
        for score, words in held:
            if len(words) > 1 and words[-1] == end_id:
                candidates.append((score, words))
                continue
            log_p = torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist()
            for word in range(len(log_p)):
                candidates.append((score + log_p[word], [*words, word]))
        held = sorted(candidates, reverse=True)[:beams + 1]
    best = max(held)[1]
    return torch.tensor(best[1:], dtype=torch.long)
# %% wrong | length-normalised at the end: the best mean log-probability of a word wins | best_mean_returned
def beam_search(step, start_id, end_id, beams, max_length):
    held = [(0.0, [start_id])]
    for _ in range(max_length):
        candidates = []
        for score, words in held:
            if len(words) > 1 and words[-1] == end_id:
                candidates.append((score, words))
                continue
            log_p = torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist()
            for word in range(len(log_p)):
                candidates.append((score + log_p[word], [*words, word]))
        held = sorted(candidates, reverse=True)[:beams]
    best = max(held, key=lambda pair: pair[0] / max(1, len(pair[1]) - 1))[1]
    return torch.tensor(best[1:], dtype=torch.long)
# %% wrong | scores rounded to two decimal places: near ties decided by the larger word id
def beam_search(step, start_id, end_id, beams, max_length):
    held = [(0.0, [start_id])]
    for _ in range(max_length):
        candidates = []
        for score, words in held:
            if len(words) > 1 and words[-1] == end_id:
                candidates.append((score, words))
                continue
            log_p = torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist()
            for word in range(len(log_p)):
                candidates.append((round(score + log_p[word], 2), [*words, word]))
        held = sorted(candidates, reverse=True)[:beams]
    best = max(held)[1]
    return torch.tensor(best[1:], dtype=torch.long)
# %% wrong | finished are moved to a list, and the search ends once there are `beams` of them, unfinished better ones forgotten | enough_finished
def beam_search(step, start_id, end_id, beams, max_length):
    held, done = [(0.0, [start_id])], []
    for _ in range(max_length):
        candidates = []
        for score, words in held:
            log_p = torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist()
            candidates += [(score + l, [*words, w]) for w, l in enumerate(log_p)]
        candidates.sort(reverse=True)
        held = []
        for pair in candidates[: 2 * beams]:
            if pair[1][-1] == end_id:
                done.append(pair)
            elif len(held) < beams:
                held.append(pair)
        if len(done) >= beams or not held:
            break
    best = max(done)[1] if done else max(held)[1]
    return torch.tensor(best[1:], dtype=torch.long)
# %% wrong | end_id hard coded as 2 | end_written_into_the_code
def beam_search(step, start_id, end_id, beams, max_length):
    held = [(0.0, [start_id])]
    for _ in range(max_length):
        candidates = []
        for score, words in held:
            if len(words) > 1 and words[-1] == 2:
                candidates.append((score, words))
                continue
            log_p = torch.log_softmax(step(torch.tensor(words)), dim=-1).tolist()
            for word in range(len(log_p)):
                candidates.append((score + log_p[word], [*words, word]))
        held = sorted(candidates, reverse=True)[:beams]
    best = max(held)[1]
    return torch.tensor(best[1:], dtype=torch.long)
# %% wrong | raw logits and topk(beams) | logits_added
def beam_search(step, start_id, end_id, beams, max_length):
    held = [(0.0, [start_id])]
    for _ in range(max_length):
        candidates = [pair for pair in held if pair[1][-1] == end_id]
        for score, words in held:
            if words[-1] != end_id:
                best = step(torch.tensor(words)).topk(beams)
                candidates += [(score + v, [*words, w]) for v, w in zip(best.values.tolist(), best.indices.tolist())]
        held = sorted(candidates, reverse=True)[:beams]
    return torch.tensor(held[0][1][1:])
