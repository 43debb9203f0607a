# %% right | an iterator with the piece held back
def join(pieces, pair):
    def walk():
        held = None
        for piece in pieces:
            if held is None:
                held = piece
            elif (held, piece) == tuple(pair):
                yield held + piece
                held = None
            else:
                yield held
                held = piece
        if held is not None:
            yield held
    return tuple(walk())
# %% wrong | the last piece is lost + goes on by one after a joining | right_piece_kept+last_piece_lost
def join(pieces, pair):
    result = []
    for i in range(len(pieces) - 1):
        if (pieces[i], pieces[i + 1]) == pair:
            result.append(pieces[i] + pieces[i + 1])
        else:
            result.append(pieces[i])
    return tuple(result)
# %% wrong | compares the letters: a bc is joined for the pair (ab, c) | same_letters
def join(pieces, pair):
    joined = "".join(pair)
    result = []
    i = 0
    while i < len(pieces):
        if "".join(pieces[i : i + 2]) == joined:
            result.append(joined)
            i += 2
        else:
            result.append(pieces[i])
            i += 1
    return tuple(result)
# %% wrong | from right to left + a list is returned | from_the_right+a_list
def join(pieces, pair):
    new = list(pieces)
    i = len(new) - 1
    while i > 0:
        if (new[i - 1], new[i]) == pair:
            new[i - 1 : i + 1] = [pair[0] + pair[1]]
            i -= 1
        i -= 1
    return new
# %% wrong | first occurrence only + string replace that ignores the borders of pieces | first_one_only+text_replaced
def join(pieces, pair):
    return tuple(" ".join(pieces).replace(" ".join(pair), "".join(pair), 1).split(" "))
# %% wrong | list slice against tuple, so never joined + a list is returned | nothing_joined+a_list
def join(pieces, pair):
    pieces = list(pieces)
    i = 0
    while i < len(pieces):
        if pieces[i : i + 2] == pair:
            pieces[i : i + 2] = ["".join(pair)]
        i += 1
    return pieces
