# %% right | masks expanded to their full shapes
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, mask, memory_mask):
        n, t, s = len(x), x.shape[1], memory.shape[1]
        x = self.add_and_norm_1(x, self.self_attention(x, x, mask.expand(n, t, t)).out)
        x = self.add_and_norm_2(x, self.cross_attention(x, memory, memory_mask.expand(n, t, s)).out)
        return self.add_and_norm_3(x, self.feed_forward(x))
# %% wrong | memory_mask of the first query for all
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, mask, memory_mask):
        x = self.add_and_norm_1(x, self.self_attention(x, mask=mask).out)
        x = self.add_and_norm_2(x, self.cross_attention(x, memory, memory_mask[:, :1, :]).out)
        return self.add_and_norm_3(x, self.feed_forward(x))
# %% wrong | the memory asks | memory_asks
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, mask, memory_mask):
        x = self.add_and_norm_1(x, self.self_attention(x, mask=mask).out)
        x = self.add_and_norm_2(x, self.cross_attention(memory, x, mask=memory_mask).out)
        return self.add_and_norm_3(x, self.feed_forward(x))
# %% wrong | masks exchanged | masks_exchanged
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, mask, memory_mask):
        x = self.add_and_norm_1(x, self.self_attention(x, mask=memory_mask).out)
        x = self.add_and_norm_2(x, self.cross_attention(x, memory, mask=mask).out)
        return self.add_and_norm_3(x, self.feed_forward(x))
# %% wrong | feed-forward network before the cross-attention | feed_forward_second
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, mask, memory_mask):
        x = self.add_and_norm_1(x, self.self_attention(x, mask=mask).out)
        x = self.add_and_norm_2(x, self.feed_forward(x))
        return self.add_and_norm_3(x, self.cross_attention(x, memory, memory_mask).out)
# %% wrong | a causal mask of its own | own_causal_mask
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, mask, memory_mask):
        x = self.add_and_norm_1(x, self.self_attention(x, is_causal=True).out)
        x = self.add_and_norm_2(x, self.cross_attention(x, memory, memory_mask).out)
        return self.add_and_norm_3(x, self.feed_forward(x))
# %% wrong | the encoder's block | no_cross_attention_by_number
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, mask, memory_mask):
        x = self.add_and_norm_1(x, self.self_attention(x, mask=mask).out)
        return self.add_and_norm_2(x, self.feed_forward(x))
# %% wrong | memory_mask forgotten, and add_and_norm_2 twice | padding_seen+second_norm_twice
class DecoderBlock(nn.Module):
    def __init__(self, d_model, heads, d_ff, dropout=0.0):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_1 = AddAndNorm(d_model, dropout)
        self.cross_attention = MultiHeadAttention(d_model, heads)
        self.add_and_norm_2 = AddAndNorm(d_model, dropout)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.add_and_norm_3 = AddAndNorm(d_model, dropout)

    def forward(self, x, memory, mask, memory_mask):
        x = self.add_and_norm_1(x, self.self_attention(x, mask=mask).out)
        x = self.add_and_norm_2(x, self.cross_attention(x, memory).out)
        return self.add_and_norm_2(x, self.feed_forward(x))
