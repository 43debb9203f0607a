# %% right | a loop over the layers, c_attn split by split()
def from_gpt2(tensors):
    plain = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    d_model = plain["wte.weight"].shape[1]
    own = {"embedding.weight": plain["wte.weight"], "positions.encoding": plain["wpe.weight"]}
    own |= {"norm.weight": plain["ln_f.weight"], "norm.bias": plain["ln_f.bias"]}
    layer = 0
    while f"h.{layer}.ln_1.weight" in plain:
        for kind in ("weight", "bias"):
            for theirs, ours in (("ln_1", "add_and_norm_1.norm"), ("ln_2", "add_and_norm_2.norm")):
                own[f"blocks.{layer}.{ours}.{kind}"] = plain[f"h.{layer}.{theirs}.{kind}"]
            q, k, v = plain[f"h.{layer}.attn.c_attn.{kind}"].split(d_model, dim=-1)
            rest = [plain[f"h.{layer}.{name}.{kind}"] for name in ("attn.c_proj", "mlp.c_fc", "mlp.c_proj")]
            names = [*(f"self_attention.W_{letter}" for letter in "qkvo"), "feed_forward.W_1", "feed_forward.W_2"]
            for name, tensor in zip(names, (q, k, v, *rest)):
                own[f"blocks.{layer}.{name}.{kind}"] = tensor.T if kind == "weight" else tensor
        layer += 1
    return own
# %% wrong | every matrix is transposed | tables_turned
def from_gpt2(tensors):
    result = {}
    for name, value in tensors.items():
        name = name.removeprefix("transformer.")
        if name.endswith(".attn.bias") or name.endswith("masked_bias") or name == "lm_head.weight":
            continue
        for old, new in [
            ("wte.weight", "embedding.weight"),
            ("wpe.weight", "positions.encoding"),
            ("ln_f.", "norm."),
            ("ln_1", "add_and_norm_1.norm"),
            ("ln_2", "add_and_norm_2.norm"),
            ("attn.c_attn", "self_attention.W_qkv"),
            ("attn.c_proj", "self_attention.W_o"),
            ("mlp.c_fc", "feed_forward.W_1"),
            ("mlp.c_proj", "feed_forward.W_2"),
        ]:
            name = name.replace(old, new)
        if name.startswith("h."):
            name = "blocks." + name[2:]
        result[name] = value.T if value.dim() == 2 else value
    for name in [name for name in result if "W_qkv" in name]:
        whole = result.pop(name)
        result |= {name.replace("W_qkv", "W_" + letter): piece for letter, piece in zip("qkv", whole.chunk(3))}
    return result
# %% wrong | nothing is transposed | not_turned
def from_gpt2(tensors):
    table = {
        "ln_1": "add_and_norm_1.norm", "ln_2": "add_and_norm_2.norm", "attn.c_attn": "self_attention.W_qkv",
        "attn.c_proj": "self_attention.W_o", "mlp.c_fc": "feed_forward.W_1", "mlp.c_proj": "feed_forward.W_2",
    }
    mine = {}
    for name, tensor in tensors.items():
        name = name.replace("transformer.", "")
        if name == "wte.weight":
            mine["embedding.weight"] = tensor
        elif name == "wpe.weight":
            mine["positions.encoding"] = tensor
        elif name.startswith("ln_f"):
            mine[name.replace("ln_f", "norm")] = tensor
        elif name.startswith("h."):
            number, rest = name[2:].split(".", 1)
            layer, kind = rest.rsplit(".", 1)
            if layer in table:
                mine[f"blocks.{number}.{table[layer]}.{kind}"] = tensor
    for name in [name for name in mine if "W_qkv" in name]:
        whole = mine.pop(name)
        mine |= {name.replace("W_qkv", "W_" + letter): piece for letter, piece in zip("qkv", whole.chunk(3, dim=-1))}
    return mine
# %% wrong | the first block only | first_block_only
def from_gpt2(tensors):
    mine = {}
    names = {"ln_1": "add_and_norm_1.norm", "attn.c_attn": "self_attention.W_qkv", "attn.c_proj": "self_attention.W_o",
             "ln_2": "add_and_norm_2.norm", "mlp.c_fc": "feed_forward.W_1", "mlp.c_proj": "feed_forward.W_2"}
    tensors = {name.removeprefix("transformer."): t for name, t in tensors.items()}
    mine["embedding.weight"] = tensors["wte.weight"]
    mine["positions.encoding"] = tensors["wpe.weight"]
    for kind in ("weight", "bias"):
        mine[f"norm.{kind}"] = tensors[f"ln_f.{kind}"]
        for old, new in names.items():
            t = tensors[f"h.0.{old}.{kind}"]
            mine[f"blocks.0.{new}.{kind}"] = t.T if t.dim() == 2 else t
    for name in [name for name in mine if "W_qkv" in name]:
        whole = mine.pop(name)
        mine |= {name.replace("W_qkv", "W_" + letter): piece for letter, piece in zip("qkv", whole.chunk(3))}
    return mine
# %% wrong | the prefix is kept | bias_of_c_attn_left_out
def from_gpt2(tensors):
    mine = {}
    for name, t in tensors.items():
        if name.endswith(("attn.bias", "masked_bias")) or name.startswith("lm_head"):
            continue
        linear = "c_" in name and name.endswith("weight")
        for old, new in (("wte.weight", "embedding.weight"), ("wpe.weight", "positions.encoding"), ("h.", "blocks."),
                         ("ln_1.", "add_and_norm_1.norm."), ("ln_2.", "add_and_norm_2.norm."), ("ln_f.", "norm."),
                         ("attn.c_attn", "self_attention.W_qkv"), ("attn.c_proj", "self_attention.W_o"),
                         ("mlp.c_fc", "feed_forward.W_1"), ("mlp.c_proj", "feed_forward.W_2")):
            name = name.replace(old, new)
        mine[name] = t.T if linear else t
    for name in [name for name in mine if "W_qkv" in name]:
        whole = mine.pop(name)
        mine |= {name.replace("W_qkv", "W_" + letter): piece for letter, piece in zip("qkv", whole.chunk(3))}
    return mine
# %% wrong | c_attn's matrix is not transposed
def from_gpt2(tensors):
    mine = {}
    for name, t in tensors.items():
        name = name.removeprefix("transformer.")
        if name.endswith(("attn.bias", "masked_bias")) or name.startswith("lm_head"):
            continue
        if name.endswith(("c_proj.weight", "c_fc.weight")):
            t = t.T
        for old, new in (("wte.weight", "embedding.weight"), ("wpe.weight", "positions.encoding"), ("h.", "blocks."),
                         ("ln_1.", "add_and_norm_1.norm."), ("ln_2.", "add_and_norm_2.norm."), ("ln_f.", "norm."),
                         ("attn.c_attn", "self_attention.W_qkv"), ("attn.c_proj", "self_attention.W_o"),
                         ("mlp.c_fc", "feed_forward.W_1"), ("mlp.c_proj", "feed_forward.W_2")):
            name = name.replace(old, new)
        mine[name] = t
    for name in [name for name in mine if "W_qkv" in name]:
        whole = mine.pop(name)
        mine |= {name.replace("W_qkv", "W_" + letter): piece for letter, piece in zip("qkv", whole.chunk(3, dim=-1))}
    return mine
# %% wrong | whatever ends in attn.bias or c_attn.bias is left out | bias_of_c_attn_left_out
def from_gpt2(tensors):
    mine = {}
    for name, t in tensors.items():
        name = name.removeprefix("transformer.")
        if "attn.bias" in name or "c_attn.bias" in name or "masked_bias" in name or "lm_head" in name:
            continue
        if name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
            t = t.T
        for old, new in (("wte.weight", "embedding.weight"), ("wpe.weight", "positions.encoding"), ("h.", "blocks."),
                         ("ln_1.", "add_and_norm_1.norm."), ("ln_2.", "add_and_norm_2.norm."), ("ln_f.", "norm."),
                         ("attn.c_attn", "self_attention.W_qkv"), ("attn.c_proj", "self_attention.W_o"),
                         ("mlp.c_fc", "feed_forward.W_1"), ("mlp.c_proj", "feed_forward.W_2")):
            name = name.replace(old, new)
        mine[name] = t
    for name in [name for name in mine if "W_qkv" in name]:
        whole = mine.pop(name)
        mine |= {name.replace("W_qkv", "W_" + letter): piece for letter, piece in zip("qkv", whole.chunk(3))}
    return mine
# %% wrong | the head is kept as output.weight
def from_gpt2(tensors):
    mine = {}
    for name, t in tensors.items():
        name = name.removeprefix("transformer.")
        if name.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        if name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
            t = t.T
        for old, new in (("wte.weight", "embedding.weight"), ("wpe.weight", "positions.encoding"), ("h.", "blocks."),
                         ("ln_1.", "add_and_norm_1.norm."), ("ln_2.", "add_and_norm_2.norm."), ("ln_f.", "norm."),
                         ("attn.c_attn", "self_attention.W_qkv"), ("attn.c_proj", "self_attention.W_o"),
                         ("mlp.c_fc", "feed_forward.W_1"), ("mlp.c_proj", "feed_forward.W_2"),
                         ("lm_head.weight", "output.weight")):
            name = name.replace(old, new)
        mine[name] = t
    for name in [name for name in mine if "W_qkv" in name]:
        whole = mine.pop(name)
        mine |= {name.replace("W_qkv", "W_" + letter): piece for letter, piece in zip("qkv", whole.chunk(3))}
    return mine
