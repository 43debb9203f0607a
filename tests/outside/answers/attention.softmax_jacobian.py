# %% right | einsum, the diagonal added in place
def softmax_jacobian(scores):
    alpha = torch.softmax(scores, -1)
    jacobian = -torch.einsum("...i,...j->...ij", alpha, alpha)
    jacobian.diagonal(dim1=-2, dim2=-1).add_(alpha)
    return jacobian


# %% wrong | alpha_i (δ - alpha_i): the square of alpha_i off the diagonal | own_weight_squared
def softmax_jacobian(scores):
    alpha = torch.softmax(scores, dim=-1)
    delta = torch.eye(scores.shape[-1], dtype=scores.dtype)
    return alpha.unsqueeze(-1) * (delta - alpha.unsqueeze(-1))


# %% wrong | row times column: the inner product, a number, subtracted everywhere | inner_product
def softmax_jacobian(scores):
    alpha = torch.softmax(scores, dim=-1)
    return torch.diag_embed(alpha) - alpha.unsqueeze(-2) @ alpha.unsqueeze(-1)


# %% wrong | remembers the alpha of the first call with the shape
_alpha = {}


def softmax_jacobian(scores):
    alpha = _alpha.setdefault((tuple(scores.shape), scores.dtype), torch.softmax(scores, dim=-1))
    return torch.diag_embed(alpha) - alpha.unsqueeze(-1) * alpha.unsqueeze(-2)


# %% wrong | softmax of the softmax | softmax_twice
def softmax_jacobian(scores):
    alpha = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)
    return torch.diag_embed(alpha) - alpha.unsqueeze(-1) * alpha.unsqueeze(-2)


# %% wrong | no softmax + plus | plus_instead_of_minus+scores_instead_of_weights
def softmax_jacobian(scores):
    return torch.diag_embed(scores) + scores.unsqueeze(-1) * scores.unsqueeze(-2)


# %% wrong | identity instead of diag(alpha) + sign turned round | wrong_sign+identity_not_weighted
def softmax_jacobian(scores):
    alpha = torch.softmax(scores, dim=-1)
    return alpha.unsqueeze(-1) * alpha.unsqueeze(-2) - torch.eye(scores.shape[-1], dtype=scores.dtype)
