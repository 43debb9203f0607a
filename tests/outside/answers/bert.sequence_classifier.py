# %% right | narrow to one word, keep the dimension, in-place tanh on the own result, squeeze(1)
class SequenceClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, states):
        x = self.dense(states.narrow(1, 0, 1))
        x.tanh_()
        return self.output(x).squeeze(1)
# %% wrong | dropout in between | dropout
class SequenceClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, states):
        return self.output(F.dropout(torch.tanh(self.dense(states[:, 0])), 0.1, self.training))
# %% wrong | tanh in both places, between and at the end | tanh_at_the_end_too
class SequenceClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, states):
        return self.output(self.dense(states[:, 0]).tanh()).tanh()
# %% wrong | dense weight not transposed | dense_transposed
class SequenceClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, states):
        return self.output(torch.tanh(states[:, 0] @ self.dense.weight + self.dense.bias))
# %% wrong | last word + softmax | last_word+probabilities
class SequenceClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, states):
        return self.output(torch.tanh(self.dense(states[:, -1]))).softmax(dim=-1)
# %% wrong | mean over the words + tanh forgotten | mean_of_the_words+tanh_missing
class SequenceClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.dense = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, classes)

    def forward(self, states):
        return self.output(self.dense(states.mean(dim=1)))
