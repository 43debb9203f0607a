# %% right | a list of words that grows
def decode(pieces):
    words = [""]
    for character in "".join(pieces):
        if character == MARK:
            words.append("")
        else:
            words[-1] += character
    return " ".join(words).strip()
# %% wrong | underscore + first character always cut off | marks_kept+first_character_cut
def decode(pieces):
    return "".join(pieces).replace("_", " ")[1:]
# %% wrong | a space between pieces and the marks made spaces too: two spaces before words, one within them | spaces_between_pieces_and_words
def decode(pieces):
    return " ".join(pieces).replace("▁", " ").strip()
# %% wrong | pieces before the first mark are dropped (middle of a word) | beginning_dropped
def decode(pieces):
    words = []
    for piece in pieces:
        if piece.startswith("▁"):
            words.append(piece[1:])
        elif words:
            words[-1] += piece
    return " ".join(words)
# %% wrong | everything before the first mark is cut off (partition) | beginning_dropped
def decode(pieces):
    text = "".join(pieces)
    if "▁" in text:
        text = text.partition("▁")[2]
    return text.replace("▁", " ")
