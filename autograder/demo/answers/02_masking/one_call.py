# %% masking.masked_weights
def masked_weights(scaled, mask):
    return torch.masked.softmax(scaled, dim=-1, mask=mask.expand_as(scaled)).nan_to_num()


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
