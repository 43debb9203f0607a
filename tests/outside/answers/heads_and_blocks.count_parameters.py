# %% right | counted up in a loop over the layers, head by head
def block_parameters(d_model, heads, d_ff):
    counts = {"attention": 0, "projections": 0, "feed_forward": 0, "layer_norms": 0}
    d_head = d_model // heads
    for head in range(heads):
        for matrix in ["W_q", "W_k", "W_v"]:
            counts["projections"] += d_model * d_head + d_head
    counts["projections"] += heads * d_head * d_model + d_model
    for rows, columns in [(d_model, d_ff), (d_ff, d_model)]:
        counts["feed_forward"] += rows * columns
        counts["feed_forward"] += columns
    for norm in range(2):
        counts["layer_norms"] += d_model  # gamma
        counts["layer_norms"] += d_model  # beta
    return counts


# %% right | real layers are built and counted
def block_parameters(d_model, heads, d_ff):
    def count(*layers):
        return sum(p.numel() for layer in layers for p in layer.parameters())
    return {
        "attention": 0,
        "projections": count(nn.MultiheadAttention(d_model, heads)),
        "feed_forward": count(nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)),
        "layer_norms": count(nn.LayerNorm(d_model), nn.LayerNorm(d_model)),
    }


# %% wrong | gamma without beta (the same number as one norm only) | one_layer_norm
def block_parameters(d_model, heads, d_ff):
    gammas = [d_model, d_model]
    return {
        "attention": 0,
        "projections": 4 * (d_model * d_model + d_model),
        "feed_forward": d_model * d_ff + d_ff + d_ff * d_model + d_model,
        "layer_norms": sum(gammas),
    }


# %% wrong | W_q, W_k, W_v under attention, W_o under projections | only_w_o_as_projection
def block_parameters(d_model, heads, d_ff):
    return {
        "attention": 3 * (d_model * d_model + d_model),
        "projections": d_model * d_model + d_model,
        "feed_forward": d_model * d_ff + d_ff + d_ff * d_model + d_model,
        "layer_norms": 2 * 2 * d_model,
    }


# %% wrong | a tuple instead of a dict | without_names
def block_parameters(d_model, heads, d_ff):
    return 0, 4 * (d_model**2 + d_model), 2 * d_model * d_ff + d_ff + d_model, 4 * d_model


# %% wrong | W_o forgotten + no biases in the projections | three_projections+no_biases_in_the_projections
def block_parameters(d_model, heads, d_ff):
    return {
        "attention": 0,
        "projections": 3 * d_model * d_model,
        "feed_forward": d_model * d_ff + d_ff + d_ff * d_model + d_model,
        "layer_norms": 2 * 2 * d_model,
    }


# %% wrong | times heads + W_o forgotten | one_projection_for_each_head+three_projections
def block_parameters(d_model, heads, d_ff):
    return {
        "attention": 0,
        "projections": heads * 3 * (d_model * d_model + d_model),
        "feed_forward": d_model * d_ff + d_ff + d_ff * d_model + d_model,
        "layer_norms": 2 * 2 * d_model,
    }


# %% wrong | no biases anywhere + beta forgotten | no_biases+one_layer_norm
def block_parameters(d_model, heads, d_ff):
    return {
        "attention": 0,
        "projections": 4 * d_model**2,
        "feed_forward": 2 * d_model * d_ff,
        "layer_norms": 2 * d_model,
    }
