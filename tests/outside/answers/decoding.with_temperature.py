# %% right | by hand, the largest subtracted before the division
def with_temperature(logits, temperature):
    difference = logits - logits.max(dim=-1, keepdim=True).values
    e = torch.exp(difference / temperature)
    return e / e.sum(dim=-1, keepdim=True)
# %% wrong | the largest of the whole tensor subtracted: rows far below it underflow near temperature 0 | one_largest_for_all
def with_temperature(logits, temperature):
    e = torch.exp((logits - logits.max()) / temperature)
    return e / e.sum(dim=-1, keepdim=True)
# %% wrong | temperature never below 0.1 | never_below_a_tenth
def with_temperature(logits, temperature):
    return torch.softmax(logits / max(temperature, 0.1), dim=-1)
# %% wrong | below 0.1 simply all on the best word: wrong where two logits are near each other | all_on_the_best_near_0
def with_temperature(logits, temperature):
    if temperature < 0.1:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    return torch.softmax(logits / temperature, dim=-1)
# %% wrong | multiplied by the temperature + first dimension | multiplied+first_dimension
def with_temperature(logits, temperature):
    return torch.softmax(logits * temperature, dim=0)
# %% wrong | the probabilities are divided | ignored
def with_temperature(logits, temperature):
    p = torch.softmax(logits, dim=-1) / temperature
    return p / p.sum(dim=-1, keepdim=True)
# %% wrong | exp first | exp_overflows
def with_temperature(logits, temperature):
    e = torch.exp(logits / temperature)
    return e / e.sum(dim=-1, keepdim=True)
