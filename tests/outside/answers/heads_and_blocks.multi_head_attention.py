# %% right | the sum over heads of head_i times its rows of W_o, instead of Concat
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        total = 0 if self.W_o.bias is None else self.W_o.bias
        pieces = (y.chunk(self.heads, -1) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        for q, k, v, Wo in zip(*pieces, self.W_o.weight.T.chunk(self.heads, 0), strict=True):
            total = total + scaled_dot_product_attention(q, k, v, mask) @ Wo
        return total


# %% right | torch's F.scaled_dot_product_attention (not the multi-head attention that is forbidden)
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        q, k, v = (
            y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory))
        )
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=None if mask is None else mask.unsqueeze(1))
        return self.W_o(out.transpose(1, 2).reshape(x.shape))


# %% wrong | interleaved heads (head i gets every heads-th number), joined back in the same way | interleaved_both_ways
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        q, k, v = (y.unflatten(-1, (-1, self.heads)).permute(0, 3, 1, 2) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        out = scaled_dot_product_attention(q, k, v, None if mask is None else mask.unsqueeze(1))
        return self.W_o(out.permute(0, 2, 3, 1).flatten(2))


# %% wrong | attends between the heads of one word: the transpose forgotten on both ways (memory of another length raises) | heads_behind_the_words
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        q, k, v = (y.unflatten(-1, (self.heads, -1)) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        out = scaled_dot_product_attention(q, k, v)
        return self.W_o(out.flatten(2))


# %% wrong | W_k and W_v exchanged | keys_and_values_exchanged
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (self.W_q(x), self.W_v(memory), self.W_k(memory)))
        out = scaled_dot_product_attention(q, k, v, None if mask is None else mask.unsqueeze(1))
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong | the mask transposed (queries and keys exchanged; a symmetric mask is unharmed, a memory of another length raises) | mask_transposed
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        out = scaled_dot_product_attention(q, k, v, None if mask is None else mask.transpose(1, 2).unsqueeze(1))
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong | scaled twice: the queries divided by the root before the given attention does it again | divided_by_d_head
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        q = q / math.sqrt(q.shape[-1])
        out = scaled_dot_product_attention(q, k, v, None if mask is None else mask.unsqueeze(1))
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong | memory ignored + mask ignored (right for plain self-attention) | memory_ignored+mask_ignored
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (self.W_q(x), self.W_k(x), self.W_v(x)))
        return self.W_o(scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


# %% wrong | mask inverted + not unsqueezed | mask_inverted+masks_meet_heads
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        q, k, v = (y.unflatten(-1, (self.heads, -1)).transpose(1, 2) for y in (self.W_q(x), self.W_k(memory), self.W_v(memory)))
        out = scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong | forbidden scores become -10 | filled_with_ten
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        batch, queries, d_model = x.shape
        q = (self.W_q(x)).view(batch, queries, self.heads, -1).transpose(1, 2)
        k = (self.W_k(memory)).view(batch, memory.shape[1], self.heads, -1).transpose(1, 2)
        v = (self.W_v(memory)).view(batch, memory.shape[1], self.heads, -1).transpose(1, 2)
        scores = q @ k.mT / math.sqrt(d_model // self.heads)
        if mask is not None:
            scores = torch.where(mask[:, None], scores, -10.0)
        return self.W_o((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))


# %% wrong | never split: one head as wide as the vector | one_head
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        return self.W_o(scaled_dot_product_attention(self.W_q(x), self.W_k(memory), self.W_v(memory), mask))



# %% wrong | the memory itself is averaged, W_v forgotten | values_not_projected
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, bias=True):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, memory, mask=None):
        def split(y):
            return y.view(y.shape[0], y.shape[1], self.heads, -1).transpose(1, 2)

        mask = None if mask is None else mask[:, None]
        out = scaled_dot_product_attention(split(self.W_q(x)), split(self.W_k(memory)), split(memory), mask)
        return self.W_o(out.transpose(1, 2).reshape(x.shape))
