# %% wrong | the norm stands after the sublayer | norm_after_the_sublayer
def pre_norm(x, sublayers, norms, final_norm):
    for sublayer, norm in zip(sublayers, norms):
        x = x + norm(sublayer(x))
    return final_norm(x)
# %% wrong | added to what was normalised | stream_normalised
def pre_norm(x, sublayers, norms, final_norm):
    for sublayer, norm in zip(sublayers, norms):
        x = norm(x)
        x = x + sublayer(x)
    return final_norm(x)
# %% wrong | final norm after each sublayer
def pre_norm(x, sublayers, norms, final_norm):
    if not sublayers:
        return final_norm(x)
    for i in range(len(sublayers)):
        x = final_norm(x + sublayers[i](norms[i](x)))
    return x
