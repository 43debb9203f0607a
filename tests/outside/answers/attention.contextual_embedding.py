# %% right | full self-attention, then one row of it
def contextual_embedding(embeddings, position):
    alpha = torch.softmax(embeddings @ embeddings.T, dim=-1)
    return (alpha @ embeddings)[position]


# %% wrong | squeeze at the end: d_model == 1 gives shape []
def contextual_embedding(embeddings, position):
    dots = embeddings @ embeddings[position]
    return (torch.softmax(dots, dim=0).unsqueeze(0) @ embeddings).squeeze()


# %% wrong | the most similar word only (argmax) | most_similar_word
def contextual_embedding(embeddings, position):
    return embeddings[(embeddings @ embeddings[position]).argmax()]


# %% wrong | softmax over the single query (dim=0 of [1, words]): all weights 1, the sum of all words | all_weights_1
def contextual_embedding(embeddings, position):
    q = embeddings[position].unsqueeze(0)
    return (torch.softmax(q @ embeddings.T, dim=0) @ embeddings)[0]


# %% wrong | scaled + the word itself left out | scaled_too_early+itself_left_out
def contextual_embedding(embeddings, position):
    dots = embeddings @ embeddings[position] / math.sqrt(embeddings.shape[-1])
    dots[position] = float("-inf")
    return torch.softmax(dots, dim=0) @ embeddings


# %% wrong | positions from 1 + scaled | scaled_too_early+counted_from_one
def contextual_embedding(embeddings, position):
    dots = embeddings @ embeddings[position - 1] / embeddings.shape[-1] ** 0.5
    return torch.softmax(dots, dim=-1) @ embeddings


# %% wrong | the other words alone, cut out of the sentence | itself_cut_out
def contextual_embedding(embeddings, position):
    others = torch.cat([embeddings[:position], embeddings[position + 1 :]])
    return torch.softmax(others @ embeddings[position], dim=0) @ others
