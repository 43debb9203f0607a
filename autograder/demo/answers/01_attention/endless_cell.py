# %% attention.gradients
def attention_gradients(q, k, v, of_out):
    root = math.sqrt(q.shape[-1])
    alpha = torch.softmax(q @ k.transpose(-2, -1) / root, dim=-1)
    of_alpha = of_out @ v.transpose(-2, -1)
    of_scores = alpha * (of_alpha - (alpha * of_alpha).sum(dim=-1, keepdim=True)) / root
    return of_scores @ k, of_scores.transpose(-2, -1) @ q, alpha.transpose(-2, -1) @ of_out


left = 0.3
while left != 0:
    left -= 0.1  # never exactly 0
