# %% right | counts divided by their greatest common divisor
def same_vector(first, second):
    import math

    reduced = []
    for sentence in (first, second):
        counts = Counter(sentence.split())
        divisor = math.gcd(*counts.values())
        reduced.append({word: count // divisor for word, count in counts.items()})
    return reduced[0] == reduced[1]


# %% wrong | same set and same length: "the cat the dog dog" and "the cat cat the dog" are said to be equal | words_and_length
def same_vector(first, second):
    a, b = first.split(), second.split()
    return set(a) == set(b) and len(a) == len(b)


# %% wrong | whole multiples in both directions only: "a b a b" and "a b a b a b" (2 : 3) are said to differ | whole_multiples
def same_vector(first, second):
    a, b = sorted([first.split(), second.split()], key=len)
    times = len(b) // len(a)
    return sorted(a * times) == sorted(b)


# %% wrong | common words only are compared, and words of one sentence alone pass: "a b" and "a c" are said to be equal | common_words_only
def same_vector(first, second):
    a, b = first.split(), second.split()
    return all(a.count(w) * len(b) == b.count(w) * len(a) for w in set(a) & set(b))


# %% wrong | returns in the first round of the loop: only one word is looked at | one_word_decides
def same_vector(first, second):
    a, b = first.split(), second.split()
    for w in a:
        if a.count(w) * len(b) == b.count(w) * len(a):
            return True
        else:
            return False


# %% wrong | letters instead of words: anagrams ("tea" and "eat") are said to be equal, and counts instead of shares | counts_must_be_equal+letters
def same_vector(first, second):
    return sorted(first.replace(" ", "")) == sorted(second.replace(" ", ""))


# %% wrong | always False unless one is the reversal of the other, or the same
def same_vector(first, second):
    a, b = first.split(), second.split()
    return a == b or a == b[::-1]
