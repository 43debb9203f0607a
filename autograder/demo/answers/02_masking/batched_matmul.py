# %% own
def as_batch(x):
    """Any leading dimensions as one, because torch.bmm wants exactly three."""
    return x.reshape(-1, *x.shape[-2:])


# %% masking.causal_mask
def causal_mask(length):
    positions = torch.arange(length)
    return positions[:, None] >= positions[None, :]


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    words = torch.zeros(len(lengths), max_length + 1, device=lengths.device)
    words.scatter_(1, lengths[:, None], 1.0)  # a one where the padding begins
    return words.cumsum(dim=1)[:, :max_length] == 0


# %% masking.packed_mask
def packed_mask(ids, end):
    closed = (ids == end).float().cumsum(dim=1)
    document = torch.cat([torch.zeros_like(closed[:, :1]), closed[:, :-1]], dim=1)
    apart = torch.bmm(document[:, :, None], torch.ones_like(document)[:, None, :]) - document[:, None, :]
    return (apart == 0).tril()


# %% masking.masked_weights
def masked_weights(scaled, mask):
    allowed = as_batch(mask.expand(scaled.shape))
    alpha = as_batch(scaled).masked_fill(~allowed, -1e9).softmax(dim=2)
    return (alpha * allowed).view(scaled.shape)


# %% masking.leak_test
def leak_test(model, x):
    def seen_of(token):
        changed = torch.where(torch.arange(len(x))[:, None] == token, torch.randn_like(x), x)
        return (model(changed) - model(x)).abs().amax(dim=1) > 0

    return torch.stack([seen_of(token) for token in range(len(x))]).T


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    words = as_batch(x)
    scaled = torch.bmm(words, words.transpose(1, 2)) / math.sqrt(x.shape[-1])
    allowed = as_batch(mask.expand(*x.shape[:-1], x.shape[-2]))
    alpha = scaled.masked_fill(~allowed, -math.inf).softmax(dim=2)
    return torch.bmm(alpha, words).view(x.shape)


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model))

    def forward(self, x, mask):
        query = self.query.expand(len(x), 1, -1)
        scaled = torch.bmm(query, x.transpose(1, 2)) / math.sqrt(x.shape[2])
        alpha = scaled.masked_fill(~mask.unsqueeze(1), -math.inf).softmax(dim=2)
        return torch.bmm(alpha, x).squeeze(1)
