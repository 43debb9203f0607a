# %% masking.causal_mask
def causal_mask(length):
    return torch.ones(length, length, dtype=torch.bool).triu()


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    return torch.arange(max_length).unsqueeze(-1) < lengths


# %% masking.combined_mask
def combined_mask(causal, padding):
    return causal.unsqueeze(1) & padding


# %% masking.masked_weights
def masked_weights(scaled, mask):
    return torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-2)


# %% masking.multiplicative_weights
def multiplicative_weights(scaled, mask):
    kept = torch.exp(scaled) * mask
    return kept / kept.sum(dim=-2, keepdim=True)


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        alpha = torch.softmax(scaled.masked_fill(~mask, -1e9), dim=0)
        return (alpha.unsqueeze(-1) * x).sum(dim=1)
