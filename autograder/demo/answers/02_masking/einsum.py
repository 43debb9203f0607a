# %% masking.causal_mask
def causal_mask(length):
    ones = torch.ones(length)
    return torch.einsum("q,k->qk", ones.cumsum(0), ones) >= torch.einsum("q,k->qk", ones, ones.cumsum(0))


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    positions = torch.arange(1, max_length + 1, device=lengths.device)
    ones = torch.ones_like(lengths)
    return torch.einsum("b,w->bw", ones, positions) <= lengths[:, None]


# %% masking.combined_mask
def combined_mask(causal, padding):
    return torch.einsum("qk,bk->bqk", causal.int(), padding.int()).bool()


# %% masking.masked_weights
def masked_weights(scaled, mask):
    alpha = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min).softmax(-1)
    return torch.einsum("...qk,...qk->...qk", alpha, mask.to(alpha.dtype))


# %% masking.multiplicative_weights
def multiplicative_weights(scaled, mask):
    allowed = torch.where(mask, scaled, -1e9)
    kept = torch.exp(allowed - allowed.amax(-1, keepdim=True))
    return torch.einsum("...qk,...q->...qk", kept, 1 / torch.einsum("...qk->...q", kept))


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    scaled = torch.einsum("...qd,...kd->...qk", x, x) / x.shape[-1] ** 0.5
    return torch.einsum("...qk,...kd->...qd", scaled.masked_fill(~mask, -1e9).softmax(-1), x)


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(d_model))

    def forward(self, x, mask):
        scaled = torch.einsum("bwd,d->bw", x, self.query) / x.shape[-1] ** 0.5
        return torch.einsum("bw,bwd->bd", scaled.masked_fill(~mask, -1e9).softmax(-1), x)
