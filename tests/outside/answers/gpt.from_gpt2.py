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
    return mine
