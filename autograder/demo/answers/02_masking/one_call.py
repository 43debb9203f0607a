# %% masking.multiplicative_weights
def multiplicative_weights(scaled, mask):
    return F.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    return F.scaled_dot_product_attention(x, x, x, attn_mask=mask)


# %% masking.attention_pooling
attend = getattr(F, "scaled_dot_product_attention")


class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        query = self.query.expand(len(x), 1, -1)
        return attend(query, x, x, attn_mask=mask.unsqueeze(1)).squeeze(1)
