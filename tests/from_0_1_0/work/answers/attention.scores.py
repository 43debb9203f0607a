import torch

q = torch.tensor([[-1.0, -2.5], [4.0, 3.0]])

k = torch.tensor([[-2.0, -4.0], [-2.5, -0.5], [4.5, 2.5]])

def dot_product_scores(q, k):
    return q @ k.transpose(-2, -1)
