import torch

embeddings = torch.tensor(
    [
        [0.1, 0.1],  # The
        [2.2, 0.3],  # train
        [0.7, 0.3],  # slowly
        [1.1, 0.2],  # left
        [0.1, 0.1],  # the
        [1.4, 1.4],  # station: could be either
    ]
)

def contextual_embedding(embeddings, position):
    weights = torch.softmax(embeddings @ embeddings[position], dim=-1)
    return weights @ embeddings
