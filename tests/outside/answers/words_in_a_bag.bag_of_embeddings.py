# %% right | counts of words times the table: a real bag of words
class BagClassifier(nn.Module):
    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        counts = (F.one_hot(ids, self.embedding.num_embeddings) * mask.unsqueeze(-1)).sum(dim=1)
        shares = counts.to(self.embedding.weight.dtype) / counts.sum(dim=-1, keepdim=True)
        return shares @ self.embedding.weight @ self.output.weight.T + self.output.bias


# %% wrong | mask inverted: the mean of the padding (nan for a sentence without padding) | inverted
class BagClassifier(nn.Module):
    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        x = self.embedding(ids) * (~mask).unsqueeze(-1)
        return self.output(x.sum(dim=1) / (~mask).sum(dim=1, keepdim=True))


# %% wrong | squeeze: a batch of one sentence loses its dimension
class BagClassifier(nn.Module):
    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        x = self.embedding(ids) * mask.unsqueeze(-1)
        return self.output(x.sum(dim=1) / mask.sum(dim=1, keepdim=True)).squeeze()


# %% wrong | the mean in float32: raises for a float64 model
class BagClassifier(nn.Module):
    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        x = self.embedding(ids).float() * mask.unsqueeze(-1)
        return self.output(x.sum(dim=1) / mask.sum(dim=1, keepdim=True))


# %% wrong | ids multiplied by the mask: padding becomes word 0, and counts | ids_multiplied_and_counted
class BagClassifier(nn.Module):
    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        return self.output(self.embedding(ids * mask).mean(dim=1))


# %% wrong | padding counted + softmax | padding_counted+probabilities
class BagClassifier(nn.Module):
    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        return torch.softmax(self.output(self.embedding(ids).mean(dim=1)), dim=-1)


# %% wrong | the sum + the bias forgotten | sum+bias_left_out
class BagClassifier(nn.Module):
    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        x = self.embedding(ids) * mask.unsqueeze(-1)
        return x.sum(dim=1) @ self.output.weight.T


# %% wrong | detached + padding counted | padding_counted+embeddings_detached
class BagClassifier(nn.Module):
    def __init__(self, vocab_size, d_model, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, ids, mask):
        return self.output(self.embedding(ids).data.mean(dim=1))
