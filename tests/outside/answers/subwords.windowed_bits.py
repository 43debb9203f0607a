# %% right | a table with one entry for each id
def bits_per_byte(losses, ids, text, context, stride):
    cost = [None] * len(ids)
    cost[0] = 0.0
    for start in range(0, len(ids), stride):
        for i, loss in enumerate(losses(ids[start : start + context])):
            if cost[start + 1 + i] is None:
                cost[start + 1 + i] = loss
    return sum(cost) / math.log(2) / len(text.encode("utf-8"))
# %% right | by the end of what has been scored
def bits_per_byte(losses, ids, text, context, stride):
    total, start, scored = 0, 0, 0
    while scored < len(ids) - 1:
        window = ids[start : start + context]
        values = losses(window)
        last = start + len(window) - 1
        total += sum(values[len(values) - (last - scored) :])
        scored = last
        start += stride
    return math.log2(math.exp(1)) * total / len(bytearray(text, "utf-8"))
# %% wrong | all losses of all windows | overlap_counted_again
def bits_per_byte(losses, ids, text, context, stride):
    total = 0
    for start in range(0, len(ids), stride):
        total += sum(losses(ids[start : start + context]))
    return total / math.log(2) / len(text.encode())
# %% wrong | windows side by side | no_overlap
def bits_per_byte(losses, ids, text, context, stride):
    total = 0
    for start in range(0, len(ids), context):
        total += sum(losses(ids[start : start + context]))
    return total / math.log(2) / len(text.encode())
# %% wrong | stride losses of each window, also of the first | first_window_cut
def bits_per_byte(losses, ids, text, context, stride):
    total, done = 0, 1
    for start in range(0, len(ids), stride):
        end = min(start + context, len(ids))
        if end > done:
            total += sum(losses(ids[start:end])[-min(stride, end - done) :])
        done = max(done, end)
    return total / math.log(2) / len(text.encode())
# %% wrong | characters, not bytes | per_character
def bits_per_byte(losses, ids, text, context, stride):
    total, done = 0, 1
    for start in range(0, len(ids), stride):
        end = min(start + context, len(ids))
        if end > done:
            total += sum(losses(ids[start:end])[done - end :])
            done = end
    return total / math.log(2) / len(text)
# %% wrong | nats for each token | in_nats+per_token
def bits_per_byte(losses, ids, text, context, stride):
    total, done = 0, 1
    for start in range(0, len(ids), stride):
        end = min(start + context, len(ids))
        if end > done:
            total += sum(losses(ids[start:end])[done - end :])
            done = end
    return total / len(ids)
