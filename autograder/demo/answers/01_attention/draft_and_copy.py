# %% draft attention.weights
def attention_weights(scaled):
    return scaled / scaled.sum(dim=-1, keepdim=True)
