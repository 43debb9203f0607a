# %% wrong | one norm in a block | one_norm_in_a_block
def llama_parameters(vocabulary, d_model, layers, heads, key_value_heads, d_ff, tied):
    d_head = d_model // heads
    attention = 2 * d_model * d_model + 2 * d_model * key_value_heads * d_head
    block = attention + 3 * d_model * d_ff + d_model
    embedding = vocabulary * d_model
    return embedding * (1 if tied else 2) + layers * block + d_model
# %% wrong | keys and values for all heads | keys_in_full
def llama_parameters(vocabulary, d_model, layers, heads, key_value_heads, d_ff, tied):
    block = 4 * d_model**2 + 3 * d_model * d_ff + 2 * d_model
    total = vocabulary * d_model + layers * block + d_model
    if not tied:
        total += vocabulary * d_model
    return total
# %% wrong | d_head of the key-value heads: d_model / key_value_heads | d_head_of_the_groups
def llama_parameters(vocabulary, d_model, layers, heads, key_value_heads, d_ff, tied):
    d_head = d_model // key_value_heads
    block = 2 * d_model**2 + 2 * d_model * d_head + 3 * d_model * d_ff + 2 * d_model
    return vocabulary * d_model * (2 - int(tied)) + layers * block + d_model
