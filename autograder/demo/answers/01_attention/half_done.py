# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    weights = torch.softmax(embeddings @ embeddings[position], dim=0)
    return (weights[:, None] * embeddings).sum(dim=0)


# %% attention.scores
def dot_product_scores(q, k):
    return q @ k.mT


# %% attention.scale
def scale_scores(scores, d_head):
    return scores / d_head**0.5


# %% attention.weights
def attention_weights(scaled):
    # TODO after dinner
    raise NotImplementedError()
