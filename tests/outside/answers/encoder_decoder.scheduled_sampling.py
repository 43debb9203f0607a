# %% right | a list of the columns, and a product of zeros and ones
def scheduled_sampling(step, state, target, drawn, share):
    columns = target.unbind(1)
    words, out = columns[0], []
    for number, right in zip(drawn.unbind(1), columns[1:]):
        scores, state = step(words, state)
        out.append(scores)
        own = (number < share).long()
        words = own * scores.argmax(1) + (1 - own) * right
    return torch.stack(out, 1)
# %% right | the first sentence, and then the others
def scheduled_sampling(step, state, target, drawn, share):
    rows = []
    for b in range(target.shape[0]):
        word, h, row = target[b : b + 1, 0], state[b : b + 1], []
        for t in range(drawn.shape[1]):
            scores, h = step(word, h)
            row.append(scores)
            word = scores.max(dim=-1).indices if drawn[b, t] < share else target[b : b + 1, t + 1]
        rows.append(torch.cat(row))
    return torch.stack(rows)
# %% wrong | draws for itself
def scheduled_sampling(step, state, target, drawn, share):
    token, scores = target[:, 0], []
    for t in range(target.shape[1] - 1):
        logits, state = step(token, state)
        scores.append(logits)
        token = logits.argmax(-1) if torch.rand(()) < share else target[:, t + 1]
    return torch.stack(scores, dim=1)
# %% wrong | the share of right tokens | share_turned_around
def scheduled_sampling(step, state, target, drawn, share):
    token, scores = target[:, 0], []
    for t in range(target.shape[1] - 1):
        logits, state = step(token, state)
        scores.append(logits)
        token = torch.where(drawn[:, t] < share, target[:, t + 1], logits.argmax(-1))
    return torch.stack(scores, dim=1)
# %% wrong | one draw for the whole batch | one_draw_for_all_sentences
def scheduled_sampling(step, state, target, drawn, share):
    token, scores = target[:, 0], []
    for t in range(target.shape[1] - 1):
        logits, state = step(token, state)
        scores.append(logits)
        if drawn[0, t] < share:
            token = logits.argmax(-1)
        else:
            token = target[:, t + 1]
    return torch.stack(scores, dim=1)
# %% wrong | the state thrown away | state_not_kept
def scheduled_sampling(step, state, target, drawn, share):
    token, scores = target[:, 0], []
    for t in range(target.shape[1] - 1):
        logits, _ = step(token, state)
        scores.append(logits)
        token = torch.where(drawn[:, t] < share, logits.argmax(-1), target[:, t + 1])
    return torch.stack(scores, dim=1)
# %% wrong | positions in front | stacked_in_front
def scheduled_sampling(step, state, target, drawn, share):
    token, scores = target[:, 0], []
    for t in range(target.shape[1] - 1):
        logits, state = step(token, state)
        scores.append(logits)
        token = torch.where(drawn[:, t] < share, logits.argmax(-1), target[:, t + 1])
    return torch.stack(scores)
# %% wrong | no gradient through the whole of it | gradients_cut
def scheduled_sampling(step, state, target, drawn, share):
    token, scores = target[:, 0], []
    with torch.no_grad():
        for t in range(target.shape[1] - 1):
            logits, state = step(token, state)
            scores.append(logits)
            token = torch.where(drawn[:, t] < share, logits.argmax(-1), target[:, t + 1])
    return torch.stack(scores, dim=1)
# %% wrong | right tokens always, and positions in front | teacher_forcing+stacked_in_front
def scheduled_sampling(step, state, target, drawn, share):
    scores = []
    for t in range(target.shape[1] - 1):
        logits, state = step(target[:, t], state)
        scores.append(logits)
    return torch.stack(scores)
