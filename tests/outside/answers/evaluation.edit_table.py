# %% right | numpy, borders by an outer sum
import numpy


def edit_table(hypothesis, reference):
    table = numpy.add.outer(numpy.arange(len(hypothesis) + 1), numpy.arange(len(reference) + 1))
    for i, word in enumerate(hypothesis, start=1):
        for j, right in enumerate(reference, start=1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (word != right))
    return torch.from_numpy(table)


# %% right | relaxed until nothing changes (Bellman-Ford)
def edit_table(hypothesis, reference):
    n, m = len(hypothesis), len(reference)
    d = [[i + j for j in range(m + 1)] for i in range(n + 1)]
    changed = True
    while changed:
        changed = False
        for i in range(n + 1):
            for j in range(m + 1):
                ways = [d[i][j]]
                if i:
                    ways.append(d[i - 1][j] + 1)
                if j:
                    ways.append(d[i][j - 1] + 1)
                if i and j:
                    ways.append(d[i - 1][j - 1] + int(hypothesis[i - 1] != reference[j - 1]))
                if min(ways) < d[i][j]:
                    d[i][j] = min(ways)
                    changed = True
    return torch.tensor(d, dtype=torch.long)


# %% wrong | capital letters are ignored | capitals_ignored
def edit_table(hypothesis, reference):
    n, m = len(hypothesis), len(reference)
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i
    for j in range(m + 1):
        d[0][j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            same = hypothesis[i - 1].lower() == reference[j - 1].lower()
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (0 if same else 1))
    return torch.tensor(d)


# %% wrong | a word that contains the other is equal (in) | contained_is_the_same
def edit_table(hypothesis, reference):
    n, m = len(hypothesis), len(reference)
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i
    for j in range(m + 1):
        d[0][j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            same = hypothesis[i - 1] in reference[j - 1]
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (0 if same else 1))
    return torch.tensor(d)


# %% wrong | words compared by their first letter
def edit_table(hypothesis, reference):
    n, m = len(hypothesis), len(reference)
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i
    for j in range(m + 1):
        d[0][j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            same = hypothesis[i - 1][:1] == reference[j - 1][:1]
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (0 if same else 1))
    return torch.tensor(d)


# %% wrong | edges at 0 + a substitution costs 2 | substitution_costs_two+borders_of_zeros
def edit_table(hypothesis, reference):
    n, m = len(hypothesis), len(reference)
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            same = hypothesis[i - 1] == reference[j - 1]
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (0 if same else 2))
    return torch.tensor(d)


# %% wrong | no substitution + first row at 0 | substitution_costs_two+first_row_of_zeros
def edit_table(hypothesis, reference):
    n, m = len(hypothesis), len(reference)
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            same = hypothesis[i - 1] == reference[j - 1]
            d[i][j] = d[i - 1][j - 1] if same else 1 + min(d[i - 1][j], d[i][j - 1])
    return torch.tensor(d)
