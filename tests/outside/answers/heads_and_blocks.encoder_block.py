# %% right | a float mask of minus infinity, a loop over the two sublayers
class EncoderBlock(nn.Module):
    """Self-attention between the words, then the feed-forward network at each word; each with add & norm."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        away = torch.zeros_like(mask, dtype=x.dtype).masked_fill(~mask, float("-inf"))
        sublayers = [
            (lambda y: self.attention(query=y, key=y, value=y, key_padding_mask=away)[0], self.norm_1),
            (nn.Sequential(self.W_1, nn.ReLU(), self.W_2), self.norm_2),
        ]
        for sublayer, norm in sublayers:
            if self.norm_first:
                x = x + self.dropout(sublayer(norm(x)))
            else:
                x = norm(x + self.dropout(sublayer(x)))
        return x


# %% wrong | the two orders exchanged | pre_norm_although_not_first
class EncoderBlock(nn.Module):
    """Self-attention between the words, then the feed-forward network at each word; each with add & norm."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        if not self.norm_first:
            y = self.norm_1(x)
            x = x + self.dropout(self.attention(y, y, y, key_padding_mask=~mask)[0])
            y = self.norm_2(x)
            return x + self.dropout(self.W_2(F.relu(self.W_1(y))))
        x = self.norm_1(x + self.dropout(self.attention(x, x, x, key_padding_mask=~mask)[0]))
        return self.norm_2(x + self.dropout(self.W_2(F.relu(self.W_1(x)))))


# %% wrong | pre-norm: only the queries are normalised, keys and values are x | only_the_queries_normed
class EncoderBlock(nn.Module):
    """Self-attention between the words, then the feed-forward network at each word; each with add & norm."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        if self.norm_first:
            x = x + self.dropout(self.attention(self.norm_1(x), x, x, key_padding_mask=~mask)[0])
            y = self.norm_2(x)
            return x + self.dropout(self.W_2(F.relu(self.W_1(y))))
        x = self.norm_1(x + self.dropout(self.attention(x, x, x, key_padding_mask=~mask)[0]))
        return self.norm_2(x + self.dropout(self.W_2(F.relu(self.W_1(x)))))


# %% wrong | dropout after the norms | norms_dropped
class EncoderBlock(nn.Module):
    """Self-attention between the words, then the feed-forward network at each word; each with add & norm."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        if self.norm_first:
            y = self.dropout(self.norm_1(x))
            x = x + self.attention(y, y, y, key_padding_mask=~mask)[0]
            y = self.dropout(self.norm_2(x))
            return x + self.W_2(F.relu(self.W_1(y)))
        x = self.dropout(self.norm_1(x + self.attention(x, x, x, key_padding_mask=~mask)[0]))
        return self.dropout(self.norm_2(x + self.W_2(F.relu(self.W_1(x)))))


# %% wrong | dropout forgotten in pre-norm only | dropout_left_out_in_pre_norm
class EncoderBlock(nn.Module):
    """Self-attention between the words, then the feed-forward network at each word; each with add & norm."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        if self.norm_first:
            y = self.norm_1(x)
            x = x + self.attention(y, y, y, key_padding_mask=~mask)[0]
            y = self.norm_2(x)
            return x + self.W_2(F.relu(self.W_1(y)))
        x = self.norm_1(x + self.dropout(self.attention(x, x, x, key_padding_mask=~mask)[0]))
        return self.norm_2(x + self.dropout(self.W_2(F.relu(self.W_1(x)))))


# %% wrong | the network before the attention | sublayers_and_norms_exchanged
class EncoderBlock(nn.Module):
    """Self-attention between the words, then the feed-forward network at each word; each with add & norm."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        def feed(y):
            return self.W_2(F.relu(self.W_1(y)))
        if self.norm_first:
            x = x + self.dropout(feed(self.norm_1(x)))
            y = self.norm_2(x)
            return x + self.dropout(self.attention(y, y, y, key_padding_mask=~mask)[0])
        x = self.norm_1(x + self.dropout(feed(x)))
        return self.norm_2(x + self.dropout(self.attention(x, x, x, key_padding_mask=~mask)[0]))


# %% wrong | pre-norm only for the attention, post-norm for the network where norm_first | feed_forward_in_post_norm
class EncoderBlock(nn.Module):
    """Self-attention between the words, then the feed-forward network at each word; each with add & norm."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        if self.norm_first:
            y = self.norm_1(x)
            x = x + self.dropout(self.attention(y, y, y, key_padding_mask=~mask)[0])
            return self.norm_2(x + self.dropout(self.W_2(F.relu(self.W_1(x)))))
        x = self.norm_1(x + self.dropout(self.attention(x, x, x, key_padding_mask=~mask)[0]))
        return self.norm_2(x + self.dropout(self.W_2(F.relu(self.W_1(x)))))


# %% wrong | no dropout + pre-norm overwrites x | residual_normalised_too+dropout_left_out
class EncoderBlock(nn.Module):
    """Self-attention between the words, then the feed-forward network at each word; each with add & norm."""

    def __init__(self, d_model, heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.norm_first = norm_first
        self.attention = nn.MultiheadAttention(d_model, heads, batch_first=True)
        self.norm_1 = nn.LayerNorm(d_model)
        self.W_1 = nn.Linear(d_model, d_ff)
        self.W_2 = nn.Linear(d_ff, d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask):
        if self.norm_first:
            x = self.norm_1(x)
            x = x + self.attention(x, x, x, key_padding_mask=~mask)[0]
            x = self.norm_2(x)
            return x + self.W_2(F.relu(self.W_1(x)))
        x = self.norm_1(x + self.attention(x, x, x, key_padding_mask=~mask)[0])
        return self.norm_2(x + self.W_2(F.relu(self.W_1(x))))
