# %% right | narrow and expand; an else at the end
class LearnedPositions(nn.Module):
    def __init__(self, d_model, context_length):
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)

    def forward(self, x):
        words = x.shape[-2]
        if words <= self.encoding.shape[0]:
            rows = self.encoding.narrow(0, 0, words)
            return rows.expand(x.shape) + x
        else:
            raise ValueError(f'{words} words are too many for {self.encoding.shape[0]} rows')


# %% wrong | torch's RuntimeError caught and turned into ValueError: a table of one row is added to all words without complaint | single_row_not_refused
class LearnedPositions(nn.Module):
    def __init__(self, d_model, context_length):
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)

    def forward(self, x):
        try:
            return x + self.encoding[: x.shape[-2]]
        except RuntimeError as error:
            raise ValueError(str(error))


# %% wrong | a new nn.Parameter made of the rows in forward: gradient does not reach the table | encoding_detached
class LearnedPositions(nn.Module):
    def __init__(self, d_model, context_length):
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)

    def forward(self, x):
        words = x.shape[-2]
        if words > len(self.encoding):
            raise ValueError(f"{words} words, but only {len(self.encoding)} positions")
        rows = nn.Parameter(self.encoding[:words])
        return x + rows


# %% wrong | too many words: cut off | cut_off
class LearnedPositions(nn.Module):
    def __init__(self, d_model, context_length):
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)

    def forward(self, x):
        x = x[..., : len(self.encoding), :]
        return x + self.encoding[: x.shape[-2]]


# %% wrong | subtracted | subtracted
class LearnedPositions(nn.Module):
    def __init__(self, d_model, context_length):
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)

    def forward(self, x):
        words = x.shape[-2]
        if words > len(self.encoding):
            raise ValueError(f"{words} words, but only {len(self.encoding)} positions")
        return x - self.encoding[:words]


# %% wrong | no check + positions counted from 1 | counted_from_one
class LearnedPositions(nn.Module):
    def __init__(self, d_model, context_length):
        super().__init__()
        self.encoding = nn.Parameter(torch.randn(context_length, d_model) * 0.02)

    def forward(self, x):
        return x + self.encoding[1 : x.shape[-2] + 1]
