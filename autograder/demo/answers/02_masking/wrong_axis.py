# %% masking.causal_mask
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu()


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    return torch.arange(max_length).unsqueeze(-1) < lengths


# %% masking.packed_mask
def packed_mask(ids, end):
    ends = ids == end
    document = ends.cumsum(dim=0) - ends.long()
    same = document.unsqueeze(-1) == document.unsqueeze(-2)
    position = torch.arange(ids.shape[-1], device=ids.device)
    return same & (position.unsqueeze(-1) >= position)


# %% masking.masked_weights
def masked_weights(scaled, mask):
    return torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-2)


# %% masking.leak_test
def leak_test(model, x):
    before = model(x)
    seen = torch.zeros(len(x), len(x), dtype=torch.bool)
    for token in range(len(x)):
        changed = x.clone()
        changed[token] = torch.randn(x.shape[1])
        seen[token] = (model(changed) != before).any(dim=-1)
    return seen


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        alpha = torch.softmax(scaled.masked_fill(~mask, -1e9), dim=0)
        return (alpha.unsqueeze(-1) * x).sum(dim=1)
