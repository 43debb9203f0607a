# %% masking.causal_mask
def causal_mask(length):
    return torch.triu(torch.ones(length, length), diagonal=1).logical_not()


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    sentences = [lengths.new_ones(length, dtype=torch.bool) for length in lengths.tolist()]
    mask = nn.utils.rnn.pad_sequence(sentences, batch_first=True)
    return F.pad(mask, (0, max_length - mask.shape[1]))


# %% masking.packed_mask
def packed_mask(ids, end):
    starts = F.pad(torch.eq(ids, end)[:, :-1], (1, 0))
    document = torch.cumsum(starts, dim=1)
    return torch.tril(torch.eq(document.unsqueeze(2), document.unsqueeze(1)))


# %% masking.masked_weights
def masked_weights(scaled, mask):
    lowest = torch.full_like(scaled, torch.finfo(scaled.dtype).min)
    return F.softmax(torch.where(mask, scaled, lowest), dim=-1) * mask


# %% masking.leak_test
def leak_test(model, x):
    slopes = torch.autograd.functional.jacobian(model, x)
    return torch.ne(slopes, 0).any(dim=3).any(dim=1)


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    scaled = torch.matmul(x, x.mT).mul(x.size(-1) ** -0.5)
    alpha = F.softmax(torch.where(mask, scaled, -math.inf), dim=-1)
    return torch.matmul(F.dropout(alpha, 0.1, training=False), x)


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.empty(d_model))
        nn.init.normal_(self.query, std=d_model**-0.5)

    def forward(self, x, mask):
        scaled = F.linear(x, self.query.unsqueeze(0)).squeeze(-1) / math.sqrt(x.shape[-1])
        alpha = F.softmax(scaled.masked_fill(mask.logical_not(), -math.inf), dim=-1)
        return torch.linalg.vecdot(alpha.unsqueeze(1), x.mT)
