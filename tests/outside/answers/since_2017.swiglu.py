# %% wrong | sigmoid alone: a GLU | sigmoid
def swiglu(x, W_1, V, W_2):
    return (torch.sigmoid(x @ W_1) * (x @ V)) @ W_2
# %% wrong | the gate on the other projection | gates_exchanged
def swiglu(x, W_1, V, W_2):
    return (x @ W_1 * F.silu(x @ V)) @ W_2
# %% wrong | SiLU of the product | activation_of_the_product
def swiglu(x, W_1, V, W_2):
    h = (x @ W_1) * (x @ V)
    return (h * torch.sigmoid(h)) @ W_2
