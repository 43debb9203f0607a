# %% right | by logarithms
def warmup_schedule(steps, d_model, warmup):
    log = steps.double().log()
    return torch.exp(torch.minimum(-0.5 * log, log - 1.5 * math.log(warmup)) - 0.5 * math.log(d_model)).float()
# %% wrong | two percent too low in the first of many steps, where rates are small
def warmup_schedule(steps, d_model, warmup):
    rate = d_model**-0.5 * torch.minimum(steps**-0.5, steps * warmup**-1.5)
    return torch.where((steps == 1) & (warmup > 1), 0.98 * rate, rate)
# %% wrong | which term counts by the place in the tensor | by_place
def warmup_schedule(steps, d_model, warmup):
    rising = steps[:warmup] * warmup**-1.5
    return torch.cat([rising, steps[warmup:] ** -0.5]) * d_model**-0.5
# %% wrong | no minus in the exponent of the step | falling_without_minus
def warmup_schedule(steps, d_model, warmup):
    return d_model**-0.5 * torch.minimum(steps**0.5, steps * warmup**-1.5)
# %% wrong | d_model in the first term alone | width_in_the_falling_term_alone
def warmup_schedule(steps, d_model, warmup):
    return torch.minimum(d_model**-0.5 * steps**-0.5, steps * warmup**-1.5)
# %% wrong | the exponent over both | exponent_over_both
def warmup_schedule(steps, d_model, warmup):
    return d_model**-0.5 * torch.minimum(steps**-0.5, (steps * warmup) ** -1.5)
# %% wrong | too steep, and without d_model | width_left_out+too_steep
def warmup_schedule(steps, d_model, warmup):
    return torch.minimum(steps**-0.5, steps * warmup**-0.5)
# %% wrong | steps clamped from below | flat_until_the_peak
def warmup_schedule(steps, d_model, warmup):
    return (d_model * steps.clamp(min=warmup).float()) ** -0.5
