# %% right | everything transposed: keys are rows, softmax over dim -2
def scaled_dot_product_attention(q, k, v):
    scores = k @ q.transpose(-1, -2)
    alpha = torch.softmax(scores / math.sqrt(k.shape[-1]), dim=-2)
    return (v.transpose(-1, -2) @ alpha).transpose(-1, -2)


# %% wrong | all dimensions of k reversed (k.T): wrong for a batch | all_dimensions_reversed
def scaled_dot_product_attention(q, k, v):
    return torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), dim=-1) @ v


# %% wrong | compares with the values instead of the keys (raises unless d_value == d_head) | values_as_keys
def scaled_dot_product_attention(q, k, v):
    return torch.softmax(q @ v.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v


# %% wrong | precedence: / d ** 1 / 2 | divided_by_twice_d_head
def scaled_dot_product_attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 1 / 2, dim=-1) @ v


# %% wrong | result transposed | transposed
def scaled_dot_product_attention(q, k, v):
    return (torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v).transpose(-2, -1)


# %% wrong | not scaled + keys for values | unscaled_softmax+keys_as_values
def scaled_dot_product_attention(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ k


# %% wrong | number of keys + values compared instead of keys | divided_by_number_of_keys+values_as_keys
def scaled_dot_product_attention(q, k, v):
    return torch.softmax(q @ v.transpose(-2, -1) / k.shape[-2], dim=-1) @ v


# %% wrong | the slide's divisor and k.T, right shapes for one sequence | divided_by_number_of_keys+all_dimensions_reversed
def scaled_dot_product_attention(q, k, v):
    return torch.softmax(q @ k.T / k.shape[-2], dim=-1) @ v


# %% wrong | cut to as many components as the keys have
def scaled_dot_product_attention(q, k, v):
    out = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v
    return out[..., : q.shape[-1]]
