# %% wrong | sorted by the sum of both lengths | by_the_sum
def batches_by_tokens(lengths, max_tokens):
    order = sorted(range(len(lengths)), key=lambda i: (sum(lengths[i]), i))
    batches, source, target = [], 0, 0
    for i in order:
        s, t = max(source, lengths[i][0]), max(target, lengths[i][1])
        if batches and (len(batches[-1]) + 1) * (s + t) <= max_tokens:
            batches[-1].append(i)
            source, target = s, t
        else:
            batches.append([i])
            source, target = lengths[i]
    return batches
# %% wrong | the real tokens are counted, without the padding | padding_free
def batches_by_tokens(lengths, max_tokens):
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
    batches = []
    current, used = [], 0
    for i in order:
        size = lengths[i][0] + lengths[i][1]
        if current and used + size > max_tokens:
            batches.append(current)
            current, used = [], 0
        current.append(i)
        used += size
    if current:
        batches.append(current)
    return batches
# %% wrong | the last batch is never appended | last_batch_lost
def batches_by_tokens(lengths, max_tokens):
    order = sorted(range(len(lengths)), key=lambda i: (*lengths[i], i))
    batches = []
    current = []
    for i in order:
        candidate = current + [i]
        width = max(lengths[j][0] for j in candidate) + max(lengths[j][1] for j in candidate)
        if current and len(candidate) * width > max_tokens:
            batches.append(current)
            current = [i]
        else:
            current = candidate
    return batches
# %% wrong | the two longest are not put back at a new batch | longest_of_all_so_far
def batches_by_tokens(lengths, max_tokens):
    order = sorted(range(len(lengths)), key=lambda i: (*lengths[i], i))
    batches = []
    current, longest_source, longest_target = [], 0, 0
    for i in order:
        longest_source = max(longest_source, lengths[i][0])
        longest_target = max(longest_target, lengths[i][1])
        if current and (len(current) + 1) * (longest_source + longest_target) > max_tokens:
            batches.append(current)
            current = []
        current.append(i)
    if current:
        batches.append(current)
    return batches
