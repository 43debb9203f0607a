# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    scores = x @ x.transpose(-2, -1)
    scaled = scores / math.sqrt(x.shape[-1])
    masked = scores.masked_fill(~mask, -math.inf)  # as on the slide
    return torch.softmax(masked, dim=-1) @ x


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        return x.mean(dim=1)
