# %% right | one factor for the rate, with epsilon scaled along
def adam_update(weight, gradient, mean, square, step, rate):
    mean = torch.lerp(mean, gradient, 0.1)
    square = torch.lerp(square, gradient * gradient, 0.02)
    root = math.sqrt(1 - 0.98**step)
    return weight - rate * root / (1 - 0.9**step) * mean / (square.sqrt() + 1e-9 * root), mean, square
# %% wrong | float32 whatever came in
def adam_update(weight, gradient, mean, square, step, rate):
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.98 * square + 0.02 * gradient**2
    down = mean / (1 - 0.9**step) / ((square / (1 - 0.98**step)).sqrt() + 1e-9)
    return (weight - rate * down).float(), mean.float(), square.float()
# %% wrong | corrected square returned | corrected_square_kept
def adam_update(weight, gradient, mean, square, step, rate):
    mean = 0.9 * mean + 0.1 * gradient
    square = (0.98 * square + 0.02 * gradient**2) / (1 - 0.98**step)
    return weight - rate * mean / (1 - 0.9**step) / (square.sqrt() + 1e-9), mean, square
# %% wrong | exponent forgotten | corrected_as_in_the_first_step
def adam_update(weight, gradient, mean, square, step, rate):
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.98 * square + 0.02 * gradient**2
    return weight - rate * (mean / (1 - 0.9)) / ((square / (1 - 0.98)) ** 0.5 + 1e-9), mean, square
# %% wrong | the step alone is returned | update_returned
def adam_update(weight, gradient, mean, square, step, rate):
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.98 * square + 0.02 * gradient**2
    return -rate * (mean / (1 - 0.9**step)) / ((square / (1 - 0.98**step)).sqrt() + 1e-9), mean, square
# %% wrong | not corrected, and epsilon within the root | not_corrected+epsilon_in_the_root
def adam_update(weight, gradient, mean, square, step, rate):
    mean = 0.9 * mean + 0.1 * gradient
    square = 0.98 * square + 0.02 * gradient**2
    return weight - rate * mean / torch.sqrt(square + 1e-9), mean, square
# %% wrong | corrected by step + 1, and the corrected are returned | corrected_by_the_step_before+corrected_values_kept
def adam_update(weight, gradient, mean, square, step, rate):
    mean = (0.9 * mean + 0.1 * gradient) / (1 - 0.9 ** (step + 1))
    square = (0.98 * square + 0.02 * gradient**2) / (1 - 0.98 ** (step + 1))
    return weight - rate * mean / (square.sqrt() + 1e-9), mean, square
