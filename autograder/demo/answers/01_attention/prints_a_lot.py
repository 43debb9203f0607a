# %% attention.scores
def dot_product_scores(q, k):
    print("q and k are", f"{q} {k} " * 10_000)
    return q @ k.transpose(-2, -1)


# %% attention.gradients
def attention_gradients(q, k, v, of_out):
    root = math.sqrt(q.shape[-1])
    alpha = torch.softmax(q @ k.transpose(-2, -1) / root, dim=-1)
    of_alpha = of_out @ v.transpose(-2, -1)
    of_scores = alpha * (of_alpha - (alpha * of_alpha).sum(dim=-1, keepdim=True)) / root
    return of_scores @ k, of_scores.transpose(-2, -1) @ q, alpha.transpose(-2, -1) @ of_out


for line in range(300_000):
    print("alpha", line)
print("v" * 100_000_000)
