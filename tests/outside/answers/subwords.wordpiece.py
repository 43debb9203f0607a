# %% right | the word carries its mark along, a try/next
def wordpiece(word, pieces):
    result = []
    rest = word
    while rest not in ("", "##"):
        shortest = 3 if result else 1
        piece = next((rest[:end] for end in range(len(rest), shortest - 1, -1) if rest[:end] in pieces), None)
        if piece is None:
            return ["[UNK]"]
        result.append(piece)
        rest = "##" + rest[len(piece) :]
    return result
# %% wrong | as in BERT's program, words of more than 100 characters become [UNK]; the exercise has no such limit
def wordpiece(word, pieces):
    if len(word) > 100:
        return ["[UNK]"]
    result, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        for end in range(len(word), begin, -1):
            if mark + word[begin:end] in pieces:
                result.append(mark + word[begin:end])
                begin = end
                break
        else:
            return ["[UNK]"]
    return result
# %% wrong | lower case first: a word with capitals is cut as another word | lower_case
def wordpiece(word, pieces):
    word = word.lower()
    result, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        for end in range(len(word), begin, -1):
            if mark + word[begin:end] in pieces:
                result.append(mark + word[begin:end])
                begin = end
                break
        else:
            return ["[UNK]"]
    return result
# %% wrong | shortest first + the found pieces stay before [UNK] | shortest_first+beginning_kept
def wordpiece(word, pieces):
    result, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        for end in range(begin + 1, len(word) + 1):
            if mark + word[begin:end] in pieces:
                result.append(mark + word[begin:end])
                begin = end
                break
        else:
            return result + ["[UNK]"]
    return result
# %% wrong | single characters never tried + the string "[UNK]" in place of a list | unknown_as_a_string+single_characters_left_out
def wordpiece(word, pieces):
    result, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        for end in range(len(word), begin + 1, -1):
            if mark + word[begin:end] in pieces:
                result.append(mark + word[begin:end])
                begin = end
                break
        else:
            return "[UNK]"
    return result
# %% wrong | goes back and tries a shorter piece where the rest cannot be cut: no [UNK] where the greedy cut gets stuck | goes_back
def wordpiece(word, pieces):
    def cut(begin):
        if begin == len(word):
            return []
        mark = "##" if begin else ""
        for end in range(len(word), begin, -1):
            if mark + word[begin:end] in pieces:
                rest = cut(end)
                if rest is not None:
                    return [mark + word[begin:end]] + rest
        return None
    result = cut(0)
    return ["[UNK]"] if result is None else result
