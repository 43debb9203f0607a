# %% attention.output
def weighted_values(alpha, v):
    return alpha @ v


left = 0.3
while left != 0:
    left -= 0.1  # never exactly 0
