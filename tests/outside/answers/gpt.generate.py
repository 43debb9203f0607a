# %% right | numpy.append
import numpy


def generate(model, prompt, new_words, context):
    words = prompt.numpy()
    for _ in range(new_words):
        scores = model(torch.from_numpy(words[-context:].copy()).reshape(1, -1)).numpy()[0, -1]
        words = numpy.append(words, scores.argmax())
    return torch.from_numpy(words.copy())


# %% right | recursion
def generate(model, prompt, new_words, context):
    if new_words == 0:
        return prompt
    window = prompt if len(prompt) <= context else prompt[len(prompt) - context :]
    scores = model(window.reshape(1, -1)).squeeze(0)[-1]
    return generate(model, torch.cat((prompt, torch.topk(scores, k=1).indices)), new_words - 1, context)


# %% wrong | argmax of exp: overflow for large logits | exp_overflows
def generate(model, prompt, new_words, context):
    ids = prompt
    for _ in range(new_words):
        logits = model(ids[-context:].unsqueeze(0))
        best = logits[0, -1].exp().argmax()
        ids = torch.cat([ids, best.unsqueeze(0)])
    return ids


# %% wrong | one word too many (context + 1) | one_word_beyond_the_context
def generate(model, prompt, new_words, context):
    ids = prompt
    for _ in range(new_words):
        logits = model(ids[-context - 1 :].unsqueeze(0))
        best = logits[0, -1].argmax()
        ids = torch.cat([ids, best.unsqueeze(0)])
    return ids


# %% wrong | the prompt is cut at the beginning only: too long once words are added | window_cut_once
def generate(model, prompt, new_words, context):
    seen = prompt[-context:]
    ids = prompt
    for _ in range(new_words):
        logits = model(seen.unsqueeze(0))
        best = logits[0, -1].argmax()
        seen = torch.cat([seen, best.unsqueeze(0)])
        ids = torch.cat([ids, best.unsqueeze(0)])
    return ids


# %% wrong | one pass: the `new_words` best words behind the prompt | best_of_one_reading
def generate(model, prompt, new_words, context):
    best = model(prompt[-context:].unsqueeze(0))[0, -1].topk(new_words).indices
    return torch.cat([prompt, best])


# %% wrong | padded with 0 on the left to the full context: the model reads words that are not there | padded_to_the_context
def generate(model, prompt, new_words, context):
    ids = prompt
    for _ in range(new_words):
        logits = model(F.pad(ids, (context, 0))[-context:].unsqueeze(0))
        best = logits[0, -1].argmax()
        ids = torch.cat([ids, best.unsqueeze(0)])
    return ids


# %% wrong | new_words 0: one word is written all the same | one_word_at_least
def generate(model, prompt, new_words, context):
    ids = prompt
    for _ in range(new_words - 1):
        ids = torch.cat([ids, model(ids[-context:].unsqueeze(0))[0, -1].argmax().unsqueeze(0)])
    last = model(ids[-context:].unsqueeze(0))[0, -1].argmax().unsqueeze(0)
    return torch.cat([ids, last])


# %% wrong | when the context is full it starts again from the last word only (no sliding)
def generate(model, prompt, new_words, context):
    start = max(0, len(prompt) - context)
    ids = prompt
    for _ in range(new_words):
        if len(ids) - start > context:
            start = len(ids) - 1
        logits = model(ids[start:].unsqueeze(0))
        best = logits[0, -1].argmax()
        ids = torch.cat([ids, best.unsqueeze(0)])
    return ids
