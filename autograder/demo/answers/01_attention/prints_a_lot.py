# %% attention.scores
def dot_product_scores(q, k):
    for i in range(20_000):
        print("q", q, "k", k, "i", i)
    return q @ k.transpose(-2, -1)


# %% attention.output
def weighted_values(alpha, v):
    return alpha @ v


for line in range(2_000_000):
    print("alpha", line)
print("v" * 50_000_000)
