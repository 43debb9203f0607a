# %% right | numpy sign matrices, upper triangle
import numpy as np
def pairwise_accuracy(metric, people, tolerance):
    m = np.subtract.outer(metric, metric)
    p = np.subtract.outer(people, people)
    s = np.where(np.abs(m) <= tolerance, 0, np.sign(m))
    i = np.triu_indices(len(people), 1)
    return float((s[i] == np.sign(p)[i]).mean())
# %% right | three counters
from itertools import combinations
def pairwise_accuracy(metric, people, tolerance):
    same = other = 0
    for (a, x), (b, y) in combinations(zip(metric, people), 2):
        tie = abs(a - b) <= tolerance
        if x == y:
            good = tie
        elif tie:
            good = False
        else:
            good = (a < b) == (x < y)
        if good:
            same += 1
        else:
            other += 1
    return same / (same + other)
# %% wrong | the product of the differences must be positive | ties_are_wrong
def pairwise_accuracy(metric, people, tolerance):
    n = len(people)
    good = 0
    for i in range(n):
        for j in range(i + 1, n):
            d = metric[i] - metric[j]
            if abs(d) <= tolerance:
                d = 0
            if d * (people[i] - people[j]) > 0:
                good += 1
    return good / (n * (n - 1) / 2)
# %% wrong | a tie is when the difference is below the tolerance | tolerance_excluded
def pairwise_accuracy(metric, people, tolerance):
    n, good = len(people), 0
    for i in range(n):
        for j in range(i):
            d = metric[i] - metric[j]
            s = 0 if d == 0 or abs(d) < tolerance else (1 if d > 0 else -1)
            p = (people[i] > people[j]) - (people[i] < people[j])
            good += s == p
    return good / (n * (n - 1) / 2)
# %% wrong | neighbours only | neighbours_only
def pairwise_accuracy(metric, people, tolerance):
    good = []
    for i in range(len(people) - 1):
        d = metric[i] - metric[i + 1]
        s = 0 if abs(d) <= tolerance else (1 if d > 0 else -1)
        p = (people[i] > people[i + 1]) - (people[i] < people[i + 1])
        good.append(s == p)
    return sum(good) / len(good)
# %% wrong | divided by n squared
def pairwise_accuracy(metric, people, tolerance):
    n, good = len(people), 0
    for i in range(n):
        for j in range(i):
            d = metric[i] - metric[j]
            s = 0 if abs(d) <= tolerance else (1 if d > 0 else -1)
            p = (people[i] > people[j]) - (people[i] < people[j])
            good += s == p
    return good / n**2
