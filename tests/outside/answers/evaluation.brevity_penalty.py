# %% right | words that are missing, over words that are there
def brevity_penalty(hypothesis_length, reference_length):
    missing = max(reference_length - hypothesis_length, 0)
    if missing == reference_length:
        return 0.0
    return math.exp(-missing / hypothesis_length)
# %% wrong | one word too few is forgiven
def brevity_penalty(hypothesis_length, reference_length):
    if hypothesis_length == 0:
        return 0.0
    if hypothesis_length + 1 >= reference_length:
        return 1.0
    return math.exp(1 - reference_length / hypothesis_length)
# %% wrong | the sign of the exponent: e^(r/c - 1), larger than 1 | sign_of_the_exponent
def brevity_penalty(hypothesis_length, reference_length):
    if hypothesis_length == 0:
        return 0.0
    if hypothesis_length >= reference_length:
        return 1.0
    return math.exp(reference_length / hypothesis_length - 1)
# %% wrong | too long is punished as well | too_long_punished
def brevity_penalty(hypothesis_length, reference_length):
    if hypothesis_length == 0:
        return 0.0
    ratio = max(reference_length / hypothesis_length, hypothesis_length / reference_length)
    return math.exp(1 - ratio)
# %% wrong | floor division: r // c | whole_numbers
def brevity_penalty(hypothesis_length, reference_length):
    if hypothesis_length == 0:
        return 0.0
    if hypothesis_length >= reference_length:
        return 1.0
    return math.exp(1 - reference_length // hypothesis_length)
# %% wrong | brackets: e^((1 - r) / c) | brackets
def brevity_penalty(hypothesis_length, reference_length):
    if hypothesis_length == 0:
        return 0.0
    if hypothesis_length >= reference_length:
        return 1.0
    return math.exp((1 - reference_length) / hypothesis_length)
