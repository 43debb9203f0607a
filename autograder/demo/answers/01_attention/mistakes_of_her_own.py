# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    weights = torch.softmax(embeddings @ embeddings[position], dim=0)
    return (embeddings[position] + weights @ embeddings) / 2


# %% attention.scale
def scale_scores(scores, d_head):
    return scores / (math.sqrt(d_head) + 1)


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    scaled = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.relu(torch.softmax(scaled, dim=-1) @ v)
