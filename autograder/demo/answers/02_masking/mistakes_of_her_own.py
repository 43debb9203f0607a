# %% masking.combined_mask
def combined_mask(causal, padding):
    return causal & padding.unsqueeze(-2).flip(-1)


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    scaled = x @ x.transpose(-2, -1) / math.sqrt(x.shape[-1])
    return x + torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1) @ x


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scaled = torch.tanh(x) @ self.query / math.sqrt(x.shape[-1])
        alpha = torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)
        return (alpha.unsqueeze(-1) * x).sum(dim=1)
