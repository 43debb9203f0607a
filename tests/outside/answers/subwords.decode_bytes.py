# %% right | all bytes so far, decoded anew each time; an unfinished tail is found by trying to complete it
def decode_bytes(tokens, letters):
    def settled(raw):
        for held in range(1, min(3, len(raw)) + 1):
            for more in (b"\x80", b"\x80\x80", b"\x80\x80\x80", b"\x90\x80\x80"):
                try:
                    (raw[-held:] + more).decode()
                except UnicodeDecodeError:
                    continue
                return raw[:-held]
        return raw
    raw, shown, result = b"", "", []
    for token in tokens:
        raw += bytes(letters.index(c) for c in token)
        text = settled(raw).decode("utf-8", errors="replace")
        result.append(text[len(shown) :])
        shown = text
    result.append(raw.decode("utf-8", errors="replace")[len(shown) :])
    return result
# %% right | incremental decoder made by codecs.iterdecode's class, with a generator
def decode_bytes(tokens, letters):
    table = {c: bytes([i]) for i, c in enumerate(letters)}
    d = codecs.lookup("utf-8").incrementaldecoder("replace")
    parts = [d.decode(b"".join(table[c] for c in t)) for t in tokens]
    return parts + [d.decode(b"", True)]
# %% wrong | each token on its own | piece_by_piece+no_last_string
def decode_bytes(tokens, letters):
    return [bytes(letters.index(c) for c in token).decode("utf-8", errors="replace") for token in tokens]
# %% wrong | each token on its own, and an empty string at the end | piece_by_piece
def decode_bytes(tokens, letters):
    result = []
    for token in tokens:
        result.append(bytes([letters.index(c) for c in token]).decode(errors="replace"))
    return result + [""]
# %% wrong | the whole text as one string | one_string
def decode_bytes(tokens, letters):
    return bytes(letters.index(c) for c in "".join(tokens)).decode("utf-8", errors="replace")
# %% wrong | chr of each byte | one_character_a_byte
def decode_bytes(tokens, letters):
    return ["".join(chr(letters.index(c)) for c in token) for token in tokens] + [""]
# %% wrong | what no character begins is ignored | broken_left_out
def decode_bytes(tokens, letters):
    decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
    result = [decoder.decode(bytes(letters.index(c) for c in token)) for token in tokens]
    result.append(decoder.decode(b"", True))
    return result
# %% wrong | nothing is flushed, the last string is always empty | left_over_lost
def decode_bytes(tokens, letters):
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    result = [decoder.decode(bytes(letters.index(c) for c in token)) for token in tokens]
    result.append("")
    return result
# %% wrong | the letters are joined, spaces put in | spaces_alone
def decode_bytes(tokens, letters):
    return [token.replace(letters[ord(" ")], " ") for token in tokens] + [""]
