# %% masking.causal_mask
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    return torch.arange(max_length, device=lengths.device) < lengths.unsqueeze(-1)


# %% masking.packed_mask
def packed_mask(ids, end):
    closing = (ids == end).long()
    number = closing.cumsum(dim=1) - closing
    tokens = ids.shape[1]
    earlier = torch.ones(tokens, tokens, dtype=torch.bool, device=ids.device).tril()
    return earlier & (number[:, :, None] == number[:, None, :])


# %% masking.masked_weights
def masked_weights(scaled, mask):
    masked = scaled.masked_fill(~mask, -math.inf)
    return torch.softmax(masked, dim=-1).nan_to_num(nan=0.0)


# %% masking.leak_test
def leak_test(model, x):
    out = model(x)
    columns = []
    for token in range(len(x)):
        other = x.clone()
        other[token] = torch.rand(x.shape[1]) + x[token] + 1
        columns.append((model(other) != out).any(dim=1))
    return torch.stack(columns, dim=1)


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    scaled = x @ x.transpose(-2, -1) / math.sqrt(x.shape[-1])
    return torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1) @ x


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        alpha = torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)
        return (alpha.unsqueeze(-1) * x).sum(dim=1)


# %% masking.why_decoder
# The decoder learns to guess the next word, and in training the next word stands right there in its input. Without the
# mask it would copy it and have learned nothing. The encoder guesses none of the words it reads, and all of them are
# there when it is used, so it may look at every one.
