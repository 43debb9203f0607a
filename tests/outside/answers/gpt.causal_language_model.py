# %% right | comparison of places, positions added by hand, einsum
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, vocab_size, context_length, d_model, heads, layers, causal=True):
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, context_length)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, ids):
        place = torch.arange(ids.shape[1], device=ids.device)
        mask = None
        if self.causal:
            mask = place[:, None] >= place[None, :]
        x = self.embedding(ids) + self.positions.encoding[: ids.shape[1]]
        for b in self.blocks:
            output = b(x, mask)
            x = output.out
        x = F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, self.norm.eps)
        return torch.einsum("bwd,vd->bwv", x, self.embedding.weight)
# %% wrong | everything in float32
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, vocab_size, context_length, d_model, heads, layers, causal=True):
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, context_length)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device) if self.causal else None
        x = self.positions(self.embedding(ids)).float().to(self.embedding.weight.dtype)
        for block in self.blocks:
            x = block(x, mask).out
        return self.norm(x) @ self.embedding.weight.T
# %% wrong | mask in the first block only | mask_in_the_first_block
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, vocab_size, context_length, d_model, heads, layers, causal=True):
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, context_length)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device) if self.causal else None
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, mask).out
            mask = None
        return self.norm(x) @ self.embedding.weight.T
# %% wrong | positions added again before every block | positions_in_every_block
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, vocab_size, context_length, d_model, heads, layers, causal=True):
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, context_length)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device) if self.causal else None
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(self.positions(x), mask).out
        return self.norm(x) @ self.embedding.weight.T
# %% wrong | ids shifted once more inside: the first word is read as id 0 | shifted_inside
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, vocab_size, context_length, d_model, heads, layers, causal=True):
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, context_length)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device) if self.causal else None
        x = self.positions(self.embedding(F.pad(ids[:, :-1], (1, 0))))
        for block in self.blocks:
            x = block(x, mask).out
        return self.norm(x) @ self.embedding.weight.T
# %% wrong | no positions + no final norm | no_positions+no_final_norm
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, vocab_size, context_length, d_model, heads, layers, causal=True):
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, context_length)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device) if self.causal else None
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, mask).out
        return x @ self.embedding.weight.T
# %% wrong | softmax + only the last word | probabilities+last_word_only
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, vocab_size, context_length, d_model, heads, layers, causal=True):
        super().__init__()
        self.causal = causal
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositions(d_model, context_length)
        config = BlockConfig(d_model, heads, 4 * d_model, activation="gelu_tanh", norm_first=True)
        self.blocks = nn.ModuleList(EncoderBlock(config) for _ in range(layers))
        self.norm = nn.LayerNorm(d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device) if self.causal else None
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, mask).out
        return torch.softmax(self.norm(x[:, -1]) @ self.embedding.weight.T, dim=-1)
