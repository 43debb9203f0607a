# %% wrong | the label is the chance alone | label_by_the_chance
def next_sentence_pairs(texts, chances, others):
    pairs = []
    k = 0
    for text in texts:
        for i in range(len(text) - 1):
            if chances[k] < 0.5:
                pairs.append((text[i], text[i + 1], 0))
            else:
                pairs.append((text[i], others[k], 1))
            k += 1
    return pairs
# %% wrong | k starts anew in each text | restarted_in_each_text
def next_sentence_pairs(texts, chances, others):
    pairs = []
    for text in texts:
        for k, (first, second) in enumerate(zip(text, text[1:])):
            shown = second if chances[k] < 0.5 else others[k]
            pairs.append((first, shown, 0 if shown == second else 1))
    return pairs
# %% wrong | pairs that do not overlap | two_by_two
def next_sentence_pairs(texts, chances, others):
    pairs = []
    k = 0
    for text in texts:
        for i in range(0, len(text) - 1, 2):
            second = text[i + 1] if chances[k] < 0.5 else others[k]
            pairs.append((text[i], second, int(second != text[i + 1])))
            k += 1
    return pairs
# %% wrong | the text ends are joined | across_texts
def next_sentence_pairs(texts, chances, others):
    sentences = [s for text in texts for s in text]
    pairs = []
    for k, (chance, other) in enumerate(zip(chances, others)):
        second = sentences[k + 1] if chance < 0.5 else other
        pairs.append((sentences[k], second, 0 if second == sentences[k + 1] else 1))
    return pairs
# %% wrong | labels the other way round | labels_exchanged
def next_sentence_pairs(texts, chances, others):
    pairs, k = [], 0
    for text in texts:
        for a, b in zip(text[:-1], text[1:]):
            c = b if chances[k] < 0.5 else others[k]
            pairs.append((a, c, int(c == b)))
            k += 1
    return pairs
# %% wrong | others are counted where they are needed only | others_one_after_another
def next_sentence_pairs(texts, chances, others):
    pairs, k, used = [], 0, 0
    for text in texts:
        for a, b in zip(text[:-1], text[1:]):
            if chances[k] < 0.5:
                c = b
            else:
                c = others[used]
                used += 1
            pairs.append((a, c, int(c != b)))
            k += 1
    return pairs
