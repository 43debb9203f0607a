# %% wrong | characters, not bytes | per_character
def bits_per_byte(mean_loss, pieces, text):
    return mean_loss * pieces / math.log(2) / len(text)
# %% wrong | nats | in_nats
def bits_per_byte(mean_loss, pieces, text):
    return mean_loss * pieces / len(text.encode("utf-8"))
# %% wrong | ln 2 multiplied | times_ln_2
def bits_per_byte(mean_loss, pieces, text):
    return mean_loss * math.log(2) * pieces / len(text.encode())
# %% wrong | bits of a piece | per_piece
def bits_per_byte(mean_loss, pieces, text):
    total_bits = mean_loss / math.log(2) * pieces
    return total_bits / pieces
# %% wrong | UTF-16
def bits_per_byte(mean_loss, pieces, text):
    return mean_loss * pieces / math.log(2) / len(text.encode("utf-16"))
# %% wrong | without spaces | spaces_left_out
def bits_per_byte(mean_loss, pieces, text):
    size = sum(len(word.encode()) for word in text.split())
    return mean_loss * pieces / math.log(2) / size
