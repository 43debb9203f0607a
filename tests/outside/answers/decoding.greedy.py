# %% right | clumsy: python loop for the largest of the log probabilities
def greedy(step, start_id, end_id, max_length):
    result = []
    done = False
    n = 0
    while not done:
        if n == max_length:
            done = True
        else:
            so_far = torch.tensor([start_id] + result, dtype=torch.long)
            lp = torch.log_softmax(step(so_far).double(), dim=0)
            best_id = 0
            best_value = lp[0].item()
            for j in range(1, len(lp)):
                if lp[j].item() > best_value:
                    best_value = lp[j].item()
                    best_id = j
            result.append(best_id)
            n = n + 1
            if best_id == end_id:
                done = True
    return torch.tensor(result).long()
# %% wrong | argmax of exp(logits): exp overflows for large logits (float32 above 88), then the first inf wins | exp_overflows
def greedy(step, start_id, end_id, max_length):
    words = [start_id]
    for _ in range(max_length):
        logits = step(torch.tensor(words))
        best = logits.exp().argmax().item()
        words.append(best)
        if best == end_id:
            break
    return torch.tensor(words[1:], dtype=torch.long)
# %% wrong | <e> is hard coded as 2: wrong where end_id is another number | end_written_into_the_code
def greedy(step, start_id, end_id, max_length):
    words = [start_id]
    for _ in range(max_length):
        logits = step(torch.tensor(words))
        best = logits.argmax().item()
        words.append(best)
        if best == 2:
            break
    return torch.tensor(words[1:], dtype=torch.long)
# %% wrong | <s> is hard coded as 1: wrong where start_id is another number | start_written_into_the_code
def greedy(step, start_id, end_id, max_length):
    words = [1]
    for _ in range(max_length):
        logits = step(torch.tensor(words))
        best = logits.argmax().item()
        words.append(best)
        if best == end_id:
            break
    return torch.tensor(words[1:], dtype=torch.long)
# %% wrong | forces <e> behind a sentence that was cut off at max_length | end_put_behind
def greedy(step, start_id, end_id, max_length):
    words = [start_id]
    for _ in range(max_length):
        logits = step(torch.tensor(words))
        best = logits.argmax().item()
        words.append(best)
        if best == end_id:
            break
    if words[-1] != end_id:
        words.append(end_id)
    return torch.tensor(words[1:], dtype=torch.long)
# %% wrong | never writes the same word twice (its logit is set to -inf): wrong where the best word is one that was written | none_twice
def greedy(step, start_id, end_id, max_length):
    words = [start_id]
    for _ in range(max_length):
        logits = step(torch.tensor(words))
        logits = logits.clone()
        logits[words[1:]] = -math.inf
        best = logits.argmax().item()
        words.append(best)
        if best == end_id:
            break
    return torch.tensor(words[1:], dtype=torch.long)
# %% wrong | keeps <s> + drops <e> | start_included+end_left_out
def greedy(step, start_id, end_id, max_length):
    words = [start_id]
    for _ in range(max_length):
        logits = step(torch.tensor(words))
        best = logits.argmax().item()
        if best == end_id:
            break
        words.append(best)
    return torch.tensor(words, dtype=torch.long)
# %% wrong | only the last word is given to the step + <e> is dropped | only_the_last_word
def greedy(step, start_id, end_id, max_length):
    word, words = start_id, []
    for _ in range(max_length):
        word = int(step(torch.tensor([word])).argmax())
        if word == end_id:
            break
        words.append(word)
    return torch.tensor(words, dtype=torch.long)
