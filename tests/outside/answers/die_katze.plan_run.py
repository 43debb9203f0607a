# %% wrong | steps rounded down | leftovers_dropped
def plan_run(tokens, batch_tokens, accumulate, devices, epochs, warmup_share):
    tokens_per_step = batch_tokens * accumulate * devices
    steps = int(tokens * epochs // tokens_per_step)
    warmup = max(1, int(warmup_share * steps))
    return tokens_per_step, steps, warmup
# %% wrong | accumulated batches do not count for a step's tokens | accumulation_forgotten
def plan_run(tokens, batch_tokens, accumulate, devices, epochs, warmup_share):
    tokens_per_step = batch_tokens * devices
    steps = math.ceil(tokens * epochs / tokens_per_step)
    return tokens_per_step, steps, max(1, math.floor(warmup_share * steps))
# %% wrong | epochs cut to whole passes | whole_epochs
def plan_run(tokens, batch_tokens, accumulate, devices, epochs, warmup_share):
    tokens_per_step = batch_tokens * accumulate * devices
    steps = -(-tokens * int(epochs) // tokens_per_step)
    return tokens_per_step, steps, max(1, int(steps * warmup_share))
# %% wrong | floor of the division plus one: one step too many where it divides | one_step_too_many
def plan_run(tokens, batch_tokens, accumulate, devices, epochs, warmup_share):
    tokens_per_step = batch_tokens * accumulate * devices
    steps = int(tokens * epochs / tokens_per_step) + 1
    return tokens_per_step, steps, max(1, int(steps * warmup_share))
# %% wrong | each epoch rounded up by itself | each_epoch_rounded_up
def plan_run(tokens, batch_tokens, accumulate, devices, epochs, warmup_share):
    per_step = batch_tokens * accumulate * devices
    steps = math.ceil(math.ceil(tokens / per_step) * epochs)
    return per_step, steps, max(1, int(steps * warmup_share))
