# %% right | multi_dot and Frobenius norm from linalg
def orthogonalised(gradient, coefficients, steps):
    a, b, c = coefficients
    X = gradient.clone() / torch.linalg.matrix_norm(gradient)
    for _ in range(steps):
        XXt = torch.mm(X, X.mT)
        X = a * X + b * torch.mm(XXt, X) + c * torch.mm(torch.mm(XXt, XXt), X)
    return X
# %% right | as in the published program: transpose if tall
def orthogonalised(gradient, coefficients, steps):
    X = gradient
    if gradient.size(0) > gradient.size(1):
        X = X.T
    X = X / (X.square().sum() ** 0.5)
    for _ in range(steps):
        A = X @ X.T
        B = coefficients[1] * A + coefficients[2] * A @ A
        X = coefficients[0] * X + B @ X
    if gradient.size(0) > gradient.size(1):
        X = X.T
    return X
# %% wrong | the square number by number | numbers_squared
def orthogonalised(gradient, coefficients, steps):
    a, b, c = coefficients
    X = gradient / gradient.norm()
    for _ in range(steps):
        A = X @ X.T
        X = a * X + (b * A + c * A.pow(2)) @ X
    return X
# %% wrong | transposed if tall, and not back | tall_not_turned_back
def orthogonalised(gradient, coefficients, steps):
    a, b, c = coefficients
    X = gradient.T if gradient.shape[0] > gradient.shape[1] else gradient
    X = X / X.norm()
    for _ in range(steps):
        A = X @ X.T
        X = a * X + (b * A + c * A @ A) @ X
    return X
# %% wrong | spectral norm instead of Frobenius
def orthogonalised(gradient, coefficients, steps):
    a, b, c = coefficients
    X = gradient / torch.linalg.matrix_norm(gradient, 2)
    for _ in range(steps):
        A = X @ X.T
        X = a * X + (b * A + c * A @ A) @ X
    return X
# %% wrong | true orthogonalisation by SVD
def orthogonalised(gradient, coefficients, steps):
    U, S, V = torch.linalg.svd(gradient, full_matrices=False)
    return U @ V
