# %% right | filled number by number, clumsy
def split_heads(x, heads):
    B, N, D = x.shape
    d = int(D / heads)
    result = x.new_zeros(B, heads, N, d)
    for w in range(N):
        for i in range(D):
            result[:, i // d, w, i % d] = x[:, w, i]
    return result


# %% right | transposed first, so that a plain reshape cuts the numbers
def split_heads(x, heads):
    b, n, d = x.shape
    return x.transpose(1, 2).reshape(b, heads, d // heads, n).transpose(2, 3)


# %% wrong | every head gets the whole vector (right only for 1 head) | whole_vectors
def split_heads(x, heads):
    return x.unsqueeze(1).expand(-1, heads, -1, -1)


# %% wrong | cuts the words instead of the numbers: raises unless heads divides the words; wrong shape there | words_split
def split_heads(x, heads):
    b, n, d = x.shape
    return x.reshape(b, heads, n // heads, d)


# %% wrong | squeezes the result: wrong for a batch of 1, one word, one head or d_head 1
def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).squeeze()


# %% wrong | interleaved + words before heads | words_before_heads+interleaved
def split_heads(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, d // heads, heads).transpose(2, 3)


# %% wrong | reshaped straight to the wanted shape + pieces of size heads (heads taken for d_head) | viewed_not_transposed+d_head_and_heads_exchanged
def split_heads(x, heads):
    b, n, d = x.shape
    return x.view(b, d // heads, n, heads)


# %% wrong | squeezed
def split_heads(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2).squeeze()
