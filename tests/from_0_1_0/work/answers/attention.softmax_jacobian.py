import torch

scores = torch.tensor([[12.0, 3.75, -10.75], [-20.0, -11.5, 25.5]])

def softmax_jacobian(scores):
    alpha = torch.softmax(scores, dim=-1)
    return torch.diag_embed(alpha) - alpha.unsqueeze(-1) * alpha.unsqueeze(-2)
