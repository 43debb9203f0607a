# %% right | checked against what a round adds and takes away
def vocabulary_size(characters, merges, special):
    added, removed = 1, 0
    at_the_start = characters + special
    return at_the_start + merges * (added - removed)
# %% wrong | at least one special token: one too many for special = 0 | one_special_at_least
def vocabulary_size(characters, merges, special):
    return characters + merges + (special or 1)
# %% wrong | shrinks + the special tokens forgotten | two_become_one+special_forgotten
def vocabulary_size(characters, merges, special):
    return characters - merges
# %% wrong | two new pieces in each round + the special tokens forgotten | special_forgotten+two_for_each_pair
def vocabulary_size(characters, merges, special):
    return characters + 2 * merges
# %% wrong | the characters gone + the special tokens forgotten | special_forgotten+characters_forgotten
def vocabulary_size(characters, merges, special):
    return merges
# %% wrong | the last round does not count + special forgotten | special_forgotten+one_too_few
def vocabulary_size(characters, merges, special):
    return characters + merges - 1
