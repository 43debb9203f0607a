# %% wrong | no clamp at the roof | no_flat_part
def trapezoid_schedule(steps, total, warmup, cooldown, peak):
    steps = steps.float()
    return peak * torch.minimum(steps / warmup, (total + 1 - steps) / cooldown)
# %% wrong | the fall ends at 0 in the last step | last_step_wasted
def trapezoid_schedule(steps, total, warmup, cooldown, peak):
    steps = steps.float()
    up = steps / warmup
    down = (total - steps) / cooldown
    return peak * torch.minimum(up, down).clamp(max=1.0)
# %% wrong | a piecewise form in which the fall begins one step late
def trapezoid_schedule(steps, total, warmup, cooldown, peak):
    rates = []
    for step in steps.tolist():
        if step < warmup:
            rates.append(peak * step / warmup)
        elif step <= total - cooldown + 1:
            rates.append(peak)
        else:
            rates.append(peak * (total - step) / (cooldown - 1))
    return torch.tensor(rates)
# %% wrong | clamped at 1, not at the peak | cut_off_at_one
def trapezoid_schedule(steps, total, warmup, cooldown, peak):
    return (peak * torch.minimum(steps / warmup, (total + 1 - steps) / cooldown)).clamp(max=1)
# %% wrong | clamped from below | never_below_the_peak
def trapezoid_schedule(steps, total, warmup, cooldown, peak):
    return peak * torch.minimum(steps / warmup, (total + 1 - steps) / cooldown).clamp(min=1)
