# %% masking.packed_mask
def packed_mask(ids, end):
    position = torch.arange(ids.shape[-1], device=ids.device)
    far = position.unsqueeze(-1) - position > 3
    return (position.unsqueeze(-1) >= position) & ~far & (ids == ids).unsqueeze(-2)


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
