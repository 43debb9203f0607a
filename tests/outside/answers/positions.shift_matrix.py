# %% right | einsum of a one-hot with blocks
def shift_matrix(shift, d_model):
    b = shift * torch.pow(10000.0, -torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    c, s = b.cos(), b.sin()
    blocks = torch.stack([c, s, -s, c], dim=-1).reshape(-1, 2, 2)
    where = torch.eye(d_model // 2, dtype=torch.float64)
    return torch.einsum('ij,iab->iajb', where, blocks).reshape(d_model, d_model).float()


# %% wrong | minus at the lower right cosine (a reflection) | minus_at_the_cosine
def shift_matrix(shift, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = shift / 10000 ** (2 * i / d_model)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[math.cos(b), math.sin(b)], [math.sin(b), -math.cos(b)]])
    return matrix


# %% wrong | negative shifts treated as 0 | backwards_nothing_moves
def shift_matrix(shift, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = max(shift, 0) / 10000 ** (2 * i / d_model)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[math.cos(b), math.sin(b)], [-math.sin(b), math.cos(b)]])
    return matrix


# %% wrong | multiplied up in a loop over range(shift): identity for negative shifts | backwards_nothing_moves
def shift_matrix(shift, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = 1 / 10000 ** (2 * i / d_model)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[math.cos(b), math.sin(b)], [-math.sin(b), math.cos(b)]])
    result = torch.eye(d_model)
    for _ in range(shift):
        result = matrix @ result
    return result


# %% wrong | 1000 instead of 10000 | base_1000
def shift_matrix(shift, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = shift / 1000 ** (2 * i / d_model)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[math.cos(b), math.sin(b)], [-math.sin(b), math.cos(b)]])
    return matrix


# %% wrong | one step whatever the shift | one_word_always
def shift_matrix(shift, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = 1 / 10000 ** (2 * i / d_model)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[math.cos(b), math.sin(b)], [-math.sin(b), math.cos(b)]])
    return matrix


# %% wrong | geometry book's signs + abs(shift) | turned_back+distance_only
def shift_matrix(shift, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = abs(shift) / 10000 ** (2 * i / d_model)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[math.cos(b), -math.sin(b)], [math.sin(b), math.cos(b)]])
    return matrix


# %% wrong | geometry book's signs + exponent i / d_model | turned_back+two_forgotten
def shift_matrix(shift, d_model):
    matrix = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        b = shift / 10000 ** (i / d_model)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[math.cos(b), -math.sin(b)], [math.sin(b), math.cos(b)]])
    return matrix
