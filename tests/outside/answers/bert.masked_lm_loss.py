# %% right | log_softmax before cross_entropy
def masked_lm_loss(logits, labels):
    return F.cross_entropy(logits.log_softmax(-1).movedim(-1, 1), labels)
# %% wrong | log of softmax | log_of_the_softmax
def masked_lm_loss(logits, labels):
    asked = labels != -100
    p = logits[asked].softmax(-1).gather(1, labels[asked][:, None])
    return -p.log().mean()
# %% wrong | exp and sum by hand | softmax_by_hand
def masked_lm_loss(logits, labels):
    asked = labels != -100
    x = logits[asked].exp()
    return -(x / x.sum(-1, keepdim=True)).gather(1, labels[asked][:, None]).log().mean()
# %% wrong | labels > 0 for "asked" | word_0_left_out
def masked_lm_loss(logits, labels):
    asked = labels > 0
    return F.cross_entropy(logits[asked], labels[asked])
# %% wrong | reshaped to [batch, vocabulary, words] instead of transposed | view_for_transpose
def masked_lm_loss(logits, labels):
    b, w, v = logits.shape
    return F.cross_entropy(logits.reshape(b, v, w), labels)
# %% wrong | shifted as for a GPT | shifted
def masked_lm_loss(logits, labels):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
# %% wrong | softmax twice + sum | summed+probabilities_as_logits
def masked_lm_loss(logits, labels):
    return F.cross_entropy(logits.softmax(-1).flatten(0, 1), labels.flatten(), reduction="sum")
# %% wrong | no softmax + mean over all places | divided_by_all_places+without_normaliser
def masked_lm_loss(logits, labels):
    asked = labels != -100
    right = logits.gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -(right * asked).mean()
