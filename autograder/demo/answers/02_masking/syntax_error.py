# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model)
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model))

    def forward(self, x, mask):
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        return torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1) @ x
