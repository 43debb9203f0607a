# %% right | built with torch on the meta device and counted
def count_parameters(vocabulary, d_model, hidden_dim, classes):
    parts = [nn.Embedding(vocabulary, d_model, device="meta"), nn.Linear(d_model, classes, device="meta")]
    return sum(p.numel() for part in parts for p in part.parameters())


# %% wrong | hidden_dim everywhere | output_from_hidden_dim+hidden_dim_in_the_table
def count_parameters(vocabulary, d_model, hidden_dim, classes):
    return vocabulary * hidden_dim + hidden_dim * classes + classes


# %% wrong | a single bias | one_bias
def count_parameters(vocabulary, d_model, hidden_dim, classes):
    return vocabulary * d_model + d_model * classes + 1


# %% wrong | one more row for padding | one_row_more
def count_parameters(vocabulary, d_model, hidden_dim, classes):
    return (vocabulary + 1) * d_model + (d_model + 1) * classes


# %% wrong | hidden layer + no biases | hidden_layer_without_its_bias+bias_forgotten
def count_parameters(vocabulary, d_model, hidden_dim, classes):
    return vocabulary * d_model + d_model * hidden_dim + hidden_dim * classes


# %% wrong | hidden_dim in the linear layer + no bias | output_from_hidden_dim+bias_forgotten
def count_parameters(vocabulary, d_model, hidden_dim, classes):
    return vocabulary * d_model + hidden_dim * classes
