# %% right | functools' way, with full masks
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    words, places = source != PADDING_ID, torch.arange(target.shape[1], device=target.device)
    own = (places.unsqueeze(-1) >= places).expand(len(target), -1, -1)
    other = words.unsqueeze(1).expand(-1, len(places), -1)
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, words.unsqueeze(1).expand(-1, source.shape[1], -1))
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, own, other)
    return output(x)
# %% wrong | unknown words hidden as padding is | unknown_words_hidden
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    seen = (source > 3).unsqueeze(1)
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, seen)
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, causal_mask(target.shape[1], target.device).unsqueeze(0), seen)
    return output(x)
# %% wrong | the decoder's masks in the wrong order | masks_exchanged
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    seen = (source != PADDING_ID).unsqueeze(1)
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, seen)
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, seen, causal_mask(target.shape[1], target.device).unsqueeze(0))
    return output(x)
# %% wrong | a mask of the padding in the target, and none of the future | future_seen
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    seen = (source != PADDING_ID).unsqueeze(1)
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, seen)
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, (target != PADDING_ID).unsqueeze(1), seen)
    return output(x)
# %% wrong | the memory kept between calls
_kept_memory = {}
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    seen = (source != PADDING_ID).unsqueeze(1)
    if source.shape not in _kept_memory:
        memory = embed_source(source)
        for block in encoder:
            memory = block(memory, seen)
        _kept_memory[source.shape] = memory
    x = embed_target(target)
    for block in decoder:
        x = block(x, _kept_memory[source.shape], causal_mask(target.shape[1], target.device).unsqueeze(0), seen)
    return output(x)
# %% wrong | each level of the encoder for the same level of the decoder, and no padding mask | padding_seen+level_by_level
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    everything = torch.ones(1, 1, source.shape[1], dtype=torch.bool, device=source.device)
    memory, x = embed_source(source), embed_target(target)
    for read, write in zip(encoder, decoder):
        memory = read(memory, everything)
        x = write(x, memory, causal_mask(target.shape[1], target.device).unsqueeze(0), everything)
    return output(x)
# %% wrong | no encoder, and the cross-attention unmasked | padding_seen_by_the_decoder+encoder_left_out
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    memory, x = embed_source(source), embed_target(target)
    for block in decoder:
        x = block(x, memory, causal_mask(target.shape[1], target.device).unsqueeze(0), torch.ones(1, 1, source.shape[1], dtype=torch.bool, device=source.device))
    return output(x)
# %% right | masks of ones that are on the device of the ids
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    seen = source.ne(PADDING_ID)[:, None]
    memory = embed_source(source)
    for layer in encoder:
        memory = layer(memory, seen)
    n = target.size(1)
    past = torch.ones_like(target[:1, :1], dtype=torch.bool).expand(n, n).tril()[None]
    x = embed_target(target)
    for layer in decoder:
        x = layer(x, memory, past, seen)
    return output(x)
# %% wrong | a causal mask that is made on the CPU | mask_on_the_cpu
def encode_and_decode(source, target, embed_source, encoder, embed_target, decoder, output):
    seen = (source != PADDING_ID).unsqueeze(1)
    n = target.shape[1]
    mask = torch.tril(torch.ones(1, n, n, dtype=torch.bool))
    memory = embed_source(source)
    for block in encoder:
        memory = block(memory, seen)
    x = embed_target(target)
    for block in decoder:
        x = block(x, memory, mask, seen)
    return output(x)
