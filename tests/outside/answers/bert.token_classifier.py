# %% right | scores at padding
class TokenClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states, starts):
        rows = torch.arange(len(states), device=states.device)[:, None]
        scores = self.output(states[rows, starts])
        padding = starts == 0
        padding[:, 0] = False
        return scores.masked_fill(padding[:, :, None], 0.0)
# %% wrong | a mask of starts, which loses padding
class TokenClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states, starts):
        chosen = torch.zeros(states.shape[:2], dtype=torch.bool).scatter(1, starts, True)
        return self.output(states[chosen].reshape(starts.shape[0], -1, states.shape[-1]))
# %% wrong | last piece of each word instead of the first | piece_before_the_next_word
class TokenClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states, starts):
        ends = torch.cat([starts[:, 1:] - 1, starts[:, -1:]], dim=1)
        ends = torch.where(ends < starts, starts, ends)
        rows = torch.arange(len(states)).unsqueeze(1)
        return self.output(states[rows, ends])
# %% wrong | mean of all pieces of a word instead of the first | mean_up_to_the_next_word
class TokenClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states, starts):
        result = []
        for text, places in zip(states, starts.tolist()):
            row = []
            for j, a in enumerate(places):
                b = places[j + 1] if j + 1 < len(places) and places[j + 1] > a else a + 1
                row.append(text[a:b].mean(dim=0))
            result.append(torch.stack(row))
        return self.output(torch.stack(result))
# %% wrong | flattened without offsets | first_states_for_all
class TokenClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states, starts):
        flat = states.flatten(0, 1)
        return self.output(flat[starts.flatten()].reshape(*starts.shape, -1))
# %% wrong | starts of the first text for all + softmax | first_sequence_for_all+probabilities
class TokenClassifier(nn.Module):
    def __init__(self, d_model, classes):
        super().__init__()
        self.output = nn.Linear(d_model, classes)

    def forward(self, states, starts):
        return self.output(states[:, starts[0]]).softmax(-1)
