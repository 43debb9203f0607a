# %% right | query expanded to a batch of one-row matrices, bmm
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        q = self.query.view(1, 1, -1).expand(len(x), -1, -1)
        scaled = torch.bmm(q, x.transpose(1, 2)) / math.sqrt(x.size(2))
        alpha = torch.softmax(scaled.masked_fill(~mask.unsqueeze(1), float('-inf')), dim=2)
        return torch.bmm(alpha, x).squeeze(1)


# %% right | the scale as a buffer that is not saved, the scores in a method
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model))
        self.register_buffer("scale", torch.tensor(1 / math.sqrt(d_model)), persistent=False)

    def scores(self, x):
        return x.matmul(self.query).mul(self.scale)

    def forward(self, x, mask):
        alpha = self.scores(x).masked_fill(mask.logical_not(), float("-inf")).softmax(dim=1)
        return alpha.unsqueeze(1).matmul(x)[:, 0]


# %% wrong | squeeze() without a dimension: a batch of one sentence (or d_model 1) loses it | squeezed
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        alpha = torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)
        return (alpha.unsqueeze(-2) @ x).squeeze()


# %% wrong | takes the first mask.sum() words: wrong where the True places are not at the front | first_words_counted
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        outputs = []
        for b in range(len(x)):
            n = int(mask[b].sum())
            words = x[b, :n]
            alpha = torch.softmax(words @ self.query / math.sqrt(x.shape[-1]), dim=0)
            outputs.append(alpha @ words)
        return torch.stack(outputs)


# %% wrong | bare exp: overflows for scores above 88 | exp_overflows
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        A = torch.exp(scaled) * mask
        alpha = A / A.sum(dim=-1, keepdim=True)
        return (alpha.unsqueeze(-2) @ x).squeeze(-2)


# %% wrong | epsilon 1e-6 in the denominator without a maximum: fades where all scores are very negative
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        A = torch.exp(scaled) * mask
        alpha = A / (A.sum(dim=-1, keepdim=True) + 1e-6)
        return (alpha.unsqueeze(-2) @ x).squeeze(-2)


# %% wrong | padding zeroed in x but not in the weights: score 0 is a share | scores_times_mask_then_zeroed
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        x = x * mask.unsqueeze(-1)
        scaled = x @ self.query / math.sqrt(x.shape[-1])
        alpha = torch.softmax(scaled, dim=-1)
        return (alpha.unsqueeze(-2) @ x).squeeze(-2)


# %% wrong | not scaled + padding not masked | padding_counted+not_scaled
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        alpha = torch.softmax(x @ self.query, dim=-1)
        return (alpha.unsqueeze(-2) @ x).squeeze(-2)


# %% wrong | not scaled + query detached | not_scaled+query_detached
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        alpha = torch.softmax((x @ self.query.data).masked_fill(~mask, -math.inf), dim=-1)
        return (alpha.unsqueeze(-2) @ x).squeeze(-2)
# %% wrong | mask inverted, nan repaired | inverted_and_repaired
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(d_model))

    def forward(self, x, mask):
        scores = x @ self.query / math.sqrt(x.shape[-1])
        weights = torch.nan_to_num(torch.softmax(scores.masked_fill(mask, -math.inf), dim=-1))
        return (weights.unsqueeze(1) @ x).squeeze(1)


# %% wrong | scores of padding become -10 | filled_with_ten
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scores = (x * self.query).sum(-1) / math.sqrt(x.shape[-1])
        scores[~mask] = -10.0
        return torch.einsum("bn,bnd->bd", scores.softmax(-1), x)


# %% wrong | words of zeros taken for padding as well | words_of_zeros_left_out
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        real = mask & (x.abs().sum(-1) > 0)
        scores = x @ self.query / math.sqrt(x.shape[-1])
        alpha = scores.masked_fill(~real, -math.inf).softmax(-1)
        return (alpha[:, None] @ x)[:, 0]
