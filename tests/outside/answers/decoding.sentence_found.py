# %% right | all beginnings of three words, sorted
def sentence_found(beams):
    three = [0.54 * 0.5, 0.54 * 0.4, 0.54 * 0.1, 0.06, 0.4 * 0.6, 0.4 * 0.4]
    letter = "BEA"[beams - 1]
    return letter, sorted(three, reverse=True)[:beams]
# %% wrong | one beam: tanzte taken behind die Katze, A with 0.216 | second_best_word
def sentence_found(beams):
    return {1: ('A', [0.216]), 2: ('E', [0.27, 0.24]), 3: ('A', [0.27, 0.24, 0.216])}[beams]
# %% wrong | two beams: the two best continuations of die Katze only, eine Katze forgotten: A | one_of_two_continued
def sentence_found(beams):
    return {1: ('B', [0.27]), 2: ('A', [0.27, 0.216]), 3: ('A', [0.27, 0.24, 0.216])}[beams]
# %% wrong | logarithms of the probabilities | logarithms
def sentence_found(beams):
    letters = {1: 'B', 2: 'E', 3: 'A'}
    return letters[beams], [math.log(p) for p in [0.27, 0.24, 0.216][:beams]]
# %% wrong | greedy finds A + three beams find E | three_beams_do_not_suffice+best_at_once
def sentence_found(beams):
    return {1: ('A', [0.27]), 2: ('E', [0.27, 0.24]), 3: ('E', [0.27, 0.24, 0.216])}[beams]
# %% wrong | two beams find B + masses after the second word | two_beams_as_one+beginnings_of_two_words
def sentence_found(beams):
    return {1: ('B', [0.54]), 2: ('B', [0.54, 0.4]), 3: ('A', [0.54, 0.4, 0.06])}[beams]
# %% wrong | all widths find A + last word's own probability | always_the_best+last_words_alone_sorted
def sentence_found(beams):
    return {1: ('A', [0.5]), 2: ('A', [0.6, 0.5]), 3: ('A', [0.6, 0.5, 0.4])}[beams]
