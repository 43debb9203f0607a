# %% attention.scores
def dot_product_scores(q, k):
    print("q and k are", f"{q} {k} " * 10_000)
    return q @ k.transpose(-2, -1)


# %% attention.output
def weighted_values(alpha, v):
    return alpha @ v


for line in range(300_000):
    print("alpha", line)
print("v" * 100_000_000)
