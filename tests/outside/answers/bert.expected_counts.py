# %% right | the third is what is left over
def expected_counts(words):
    chosen = words * 15 / 100
    masked = chosen * 80 / 100
    other = chosen * 10 / 100
    unchanged = chosen - masked - other
    return masked, other, unchanged
# %% wrong | at least one word is always chosen | one_chosen_at_least
def expected_counts(words):
    chosen = max(1.0, words * 0.15)
    return chosen * 0.8, chosen * 0.1, chosen * 0.1
# %% wrong | how many are chosen | all_the_chosen_first
def expected_counts(words):
    return words * 0.15, words * 0.15 * 0.1, words * 0.15 * 0.1
# %% wrong | whole-number division | cut_down
def expected_counts(words):
    chosen = words * 15 // 100
    return float(chosen * 8 // 10), float(chosen // 10), float(chosen // 10)
# %% wrong | 15 % forgotten + rounded down to whole words | shares_of_all_words+cut_down
def expected_counts(words):
    return float(int(words * 0.8)), float(int(words * 0.1)), float(int(words * 0.1))
# %% wrong | the shares of BERT's paper swapped | words_for_masks
def expected_counts(words):
    chosen = 0.15 * words
    return 0.1 * chosen, 0.8 * chosen, 0.1 * chosen
# %% wrong | the third: all that stand there unchanged | all_the_unchanged
def expected_counts(words):
    return 0.12 * words, 0.015 * words, words - 0.135 * words
