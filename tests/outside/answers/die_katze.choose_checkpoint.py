# %% wrong | an equal loss counts as a new best one | latest_of_equals
def choose_checkpoint(losses, patience):
    best, waited = 0, 0
    for i in range(1, len(losses)):
        if losses[i] <= losses[best]:
            best, waited = i, 0
        else:
            waited += 1
            if waited == patience:
                return best, i + 1
    return best, len(losses)
# %% wrong | compared with the measurement before, not with the best | worse_than_the_one_before
def choose_checkpoint(losses, patience):
    best, waited = 0, 0
    for i in range(1, len(losses)):
        if losses[i] < losses[i - 1]:
            waited = 0
            if losses[i] < losses[best]:
                best = i
        else:
            waited += 1
        if waited >= patience:
            return best, i + 1
    return best, len(losses)
# %% wrong | the index of the last one that was measured | place_of_the_last
def choose_checkpoint(losses, patience):
    best = 0
    bad = 0
    seen = 0
    for i, loss in enumerate(losses):
        seen = i
        if loss < losses[best]:
            best = i
            bad = 0
        elif i > 0:
            bad += 1
        if bad == patience:
            break
    return best, seen
# %% wrong | min over the whole list, wherever the run ended | hindsight
def choose_checkpoint(losses, patience):
    lowest, waited, seen = float("inf"), 0, 0
    for loss in losses:
        seen += 1
        if loss < lowest:
            lowest, waited = loss, 0
        else:
            waited += 1
        if waited == patience:
            break
    return losses.index(min(losses)), seen
# %% wrong | never starts waiting anew | never_waits_anew
def choose_checkpoint(losses, patience):
    best, waited = 0, 0
    for i in range(1, len(losses)):
        if losses[i] < losses[best]:
            best = i
        else:
            waited += 1
        if waited == patience:
            return best, i + 1
    return best, len(losses)
