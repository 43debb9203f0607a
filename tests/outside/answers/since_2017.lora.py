# %% wrong | alpha alone | not_divided_by_the_rank
def lora(x, weight, A, B, alpha):
    return x @ weight.T + alpha * (x @ A.T @ B.T)
# %% wrong | divided by d_in | divided_by_d_in
def lora(x, weight, A, B, alpha):
    return F.linear(x, weight) + alpha / A.shape[1] * F.linear(F.linear(x, A), B)
# %% wrong | scaled as a whole | weight_scaled
def lora(x, weight, A, B, alpha):
    rank = A.shape[0]
    return x @ (weight + B @ A).T * (alpha / rank)


# %% wrong | alpha over d_out | divided_by_d_out
def lora(x, weight, A, B, alpha):
    return x @ weight.T + x @ (alpha / len(B) * B @ A).T
