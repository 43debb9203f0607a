# %% right | recursion within, tuples
def encode(text, merges):
    def join(pieces, pair):
        if len(pieces) < 2:
            return pieces
        if pieces[:2] == pair:
            return (pair[0] + pair[1],) + join(pieces[2:], pair)
        return (pieces[0],) + join(pieces[1:], pair)
    everything = ()
    for word in text.split():
        pieces = tuple("▁" + word)
        for pair in merges:
            pieces = join(pieces, pair)
        everything += pieces
    return list(everything)
# %% wrong | from right to left: of a a a the last two are joined | joined_from_the_right
def encode(text, merges):
    result = []
    for word in text.split():
        pieces = list("▁" + word)
        for left, right in merges:
            i = len(pieces) - 2
            while i >= 0:
                if pieces[i : i + 2] == [left, right]:
                    pieces[i : i + 2] = [left + right]
                    i -= 1
                i -= 1
        result += pieces
    return result
# %% wrong | the words as keys of a dict: a word that comes again is lost | repeated_words_once
def encode(text, merges):
    cut = {word: list("▁" + word) for word in text.split()}
    for left, right in merges:
        for pieces in cut.values():
            i = 0
            while i < len(pieces) - 1:
                if pieces[i : i + 2] == [left, right]:
                    pieces[i : i + 2] = [left + right]
                i += 1
    return [piece for pieces in cut.values() for piece in pieces]
# %% wrong | no marks + last learned first | not_marked+reverse_order
def encode(text, merges):
    result = []
    for word in text.split():
        pieces = list(word)
        for left, right in merges[::-1]:
            i = 0
            while i < len(pieces) - 1:
                if pieces[i : i + 2] == [left, right]:
                    pieces[i : i + 2] = [left + right]
                i += 1
        result += pieces
    return result
# %% wrong | a mark between words only + split(" ") | first_word_not_marked+split_at_every_space
def encode(text, merges):
    result = []
    for number, word in enumerate(text.split(" ")):
        pieces = list(word if number == 0 else "▁" + word)
        for left, right in merges:
            i = 0
            while i < len(pieces) - 1:
                if pieces[i : i + 2] == [left, right]:
                    pieces[i : i + 2] = [left + right]
                i += 1
        result += pieces
    return result
# %% wrong | every pair once a word + a list for each word | one_place_only+word_by_word
def encode(text, merges):
    result = []
    for word in text.split():
        pieces = list("▁" + word)
        for left, right in merges:
            for i in range(len(pieces) - 1):
                if pieces[i] == left and pieces[i + 1] == right:
                    pieces[i : i + 2] = [left + right]
                    break
        result.append(pieces)
    return result
