# %% right | a list of the shapes, product and sum
def count_parameters(vocabulary, context, d_model, layers, tied):
    shapes = [(vocabulary, d_model), (context, d_model), (d_model,), (d_model,)]
    for _ in range(layers):
        shapes += [(d_model, d_model), (d_model,)] * 4
        shapes += [(4 * d_model, d_model), (4 * d_model,), (d_model, 4 * d_model), (d_model,)]
        shapes += [(d_model,)] * 4
    if not tied:
        shapes.append((vocabulary, d_model))
    return sum(math.prod(shape) for shape in shapes)
# %% wrong | no biases in attention | four_d_model_short_in_a_block
def count_parameters(vocabulary, context, d_model, layers, tied):
    attention = 4 * d_model * d_model
    feed_forward = d_model * 4 * d_model + 4 * d_model + 4 * d_model * d_model + d_model
    norms = 2 * 2 * d_model
    total = layers * (attention + feed_forward + norms)
    total += vocabulary * d_model + context * d_model + 2 * d_model
    if not tied:
        total += vocabulary * d_model
    return total
# %% wrong | norms in the blocks forgotten | four_d_model_short_in_a_block
def count_parameters(vocabulary, context, d_model, layers, tied):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * 4 * d_model + 4 * d_model + 4 * d_model * d_model + d_model
    norms = 0
    total = layers * (attention + feed_forward + norms)
    total += vocabulary * d_model + context * d_model + 2 * d_model
    if not tied:
        total += vocabulary * d_model
    return total
# %% wrong | biases of the feed-forward network both d_model | three_d_model_short_in_a_block
def count_parameters(vocabulary, context, d_model, layers, tied):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * 4 * d_model + d_model + 4 * d_model * d_model + d_model
    norms = 2 * 2 * d_model
    total = layers * (attention + feed_forward + norms)
    total += vocabulary * d_model + context * d_model + 2 * d_model
    if not tied:
        total += vocabulary * d_model
    return total
# %% wrong | tied: no embedding at all (taken to belong to the output, and that left out) | no_embedding_if_tied
def count_parameters(vocabulary, context, d_model, layers, tied):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * 4 * d_model + 4 * d_model + 4 * d_model * d_model + d_model
    norms = 2 * 2 * d_model
    total = layers * (attention + feed_forward + norms)
    total += (0 if tied else vocabulary) * d_model + context * d_model + 2 * d_model
    if not tied:
        total += vocabulary * d_model
    return total
# %% wrong | cross-attention counted: two attentions and three norms in a block | cross_attention_counted
def count_parameters(vocabulary, context, d_model, layers, tied):
    attention = 8 * (d_model * d_model + d_model)
    feed_forward = d_model * 4 * d_model + 4 * d_model + 4 * d_model * d_model + d_model
    norms = 3 * 2 * d_model
    total = layers * (attention + feed_forward + norms)
    total += vocabulary * d_model + context * d_model + 2 * d_model
    if not tied:
        total += vocabulary * d_model
    return total
# %% wrong | norms one number for each d_model (gamma only) + tied inverted | output_counted_twice+norms_without_beta
def count_parameters(vocabulary, context, d_model, layers, tied):
    attention = 4 * (d_model * d_model + d_model)
    feed_forward = d_model * 4 * d_model + 4 * d_model + 4 * d_model * d_model + d_model
    norms = 2 * d_model
    total = layers * (attention + feed_forward + norms)
    total += vocabulary * d_model + context * d_model + d_model
    if tied:
        total += vocabulary * d_model
    return total
# %% wrong | attention without biases + W_o forgotten
def count_parameters(vocabulary, context, d_model, layers, tied):
    attention = 3 * d_model * d_model
    feed_forward = d_model * 4 * d_model + 4 * d_model + 4 * d_model * d_model + d_model
    norms = 2 * 2 * d_model
    total = layers * (attention + feed_forward + norms)
    total += vocabulary * d_model + context * d_model + 2 * d_model
    if not tied:
        total += vocabulary * d_model
    return total
