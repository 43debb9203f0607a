# %% wrong | keys only | keys_alone
def cache_bytes(layers, key_value_heads, d_head, words, bytes_per_number):
    return layers * key_value_heads * d_head * words * bytes_per_number
# %% wrong | bits | bits
def cache_bytes(layers, key_value_heads, d_head, words, bytes_per_number):
    return 2 * layers * key_value_heads * d_head * words * bytes_per_number * 8
# %% wrong | one layer | one_layer
def cache_bytes(layers, key_value_heads, d_head, words, bytes_per_number):
    per_word = 2 * key_value_heads * d_head * bytes_per_number
    return per_word * words
