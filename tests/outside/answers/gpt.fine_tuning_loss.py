# %% right | log_softmax and gather
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    def mean_loss(logits, right):
        lp = torch.log_softmax(logits, dim=-1)
        return -lp.gather(-1, right[..., None]).mean()

    return mean_loss(class_logits, labels) + weight * mean_loss(lm_logits, targets)
# %% wrong | weight at most 1 | weight_at_most_1
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    task = F.cross_entropy(class_logits, labels)
    lm = F.cross_entropy(lm_logits.flatten(0, 1), targets.flatten())
    return task + min(weight, 1.0) * lm
# %% wrong | weight hard coded as 0.5 | weight_of_the_paper
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    task = F.cross_entropy(class_logits, labels)
    lm = F.cross_entropy(lm_logits.flatten(0, 1), targets.flatten())
    return task + 0.5 * lm
# %% wrong | softmax before cross_entropy (words) | softmax_of_the_words
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    task = F.cross_entropy(class_logits, labels)
    lm = F.cross_entropy(torch.softmax(lm_logits, -1).flatten(0, 1), targets.flatten())
    return task + weight * lm
# %% wrong | nll_loss of logits, no log_softmax | logits_as_log_probabilities+class_logits_as_log_probabilities
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    task = F.nll_loss(class_logits, labels)
    lm = F.nll_loss(lm_logits.flatten(0, 1), targets.flatten())
    return task + weight * lm
# %% wrong | mixture + detached | mixture+language_model_detached
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    task = F.cross_entropy(class_logits, labels)
    lm = F.cross_entropy(lm_logits.flatten(0, 1), targets.flatten())
    return (1 - weight) * task + weight * lm.detach()
# %% wrong | rows torn + weight ignored | not_weighted+reshaped_not_transposed
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    task = F.cross_entropy(class_logits, labels)
    b, w, v = lm_logits.shape
    lm = F.cross_entropy(lm_logits.reshape(b, v, w), targets)
    return task + lm
# %% wrong | shifted once more: targets are shifted already | shifted_again
def fine_tuning_loss(class_logits, labels, lm_logits, targets, weight):
    task = F.cross_entropy(class_logits, labels)
    lm = F.cross_entropy(lm_logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())
    return task + weight * lm
