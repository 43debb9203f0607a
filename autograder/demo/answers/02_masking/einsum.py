# %% masking.causal_mask
def causal_mask(length):
    ones = torch.ones(length)
    return torch.einsum("q,k->qk", ones.cumsum(0), ones) >= torch.einsum("q,k->qk", ones, ones.cumsum(0))


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    positions = torch.arange(1, max_length + 1, device=lengths.device)
    ones = torch.ones_like(lengths)
    return torch.einsum("b,w->bw", ones, positions) <= lengths[:, None]


# %% masking.packed_mask
def packed_mask(ids, end):
    ends = (ids == end).int()
    ones = torch.ones_like(ends[0])
    document = torch.einsum("bk,kq->bq", ends, torch.triu(torch.einsum("k,q->kq", ones, ones), 1))
    ahead = torch.einsum("q,k->qk", ones, ones).tril().bool()
    return (torch.einsum("bq,k->bqk", document, ones) == torch.einsum("q,bk->bqk", ones, document)) & ahead


# %% masking.masked_weights
def masked_weights(scaled, mask):
    alpha = scaled.masked_fill(~mask, torch.finfo(scaled.dtype).min).softmax(-1)
    return torch.einsum("...qk,...qk->...qk", alpha, mask.to(alpha.dtype))


# %% masking.leak_test
def leak_test(model, x):
    before = model(x)
    columns = []
    for one in torch.eye(len(x), dtype=x.dtype):
        moved = model(x + torch.einsum("t,d->td", one, torch.rand(x.shape[1], dtype=x.dtype) + 1)) - before
        columns.append(torch.einsum("td,td->t", moved, moved) > 0)
    return torch.stack(columns, dim=1)


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
