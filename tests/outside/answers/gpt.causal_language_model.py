# %% right | comparison of places, einsum
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, embedding, positions, blocks, norm, causal=True):
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids):
        place = torch.arange(ids.shape[1], device=ids.device)
        mask = None
        if self.causal:
            mask = (place[:, None] >= place[None, :]).unsqueeze(0)
        x = self.positions(self.embedding(ids))
        for b in self.blocks:
            x = b(x, mask)
        x = F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias, self.norm.eps)
        return torch.einsum("bwd,vd->bwv", x, self.embedding.weight)
# %% wrong | everything in float32
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, embedding, positions, blocks, norm, causal=True):
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device).unsqueeze(0) if self.causal else None
        x = self.positions(self.embedding(ids)).float().to(self.embedding.weight.dtype)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x) @ self.embedding.weight.T
# %% wrong | mask in the first block only | mask_in_the_first_block
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, embedding, positions, blocks, norm, causal=True):
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device).unsqueeze(0) if self.causal else None
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, mask)
            mask = None
        return self.norm(x) @ self.embedding.weight.T
# %% wrong | positions added again before every block | positions_in_every_block
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, embedding, positions, blocks, norm, causal=True):
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device).unsqueeze(0) if self.causal else None
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(self.positions(x), mask)
        return self.norm(x) @ self.embedding.weight.T
# %% wrong | ids shifted once more inside: the first word is read as id 0 | shifted_inside
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, embedding, positions, blocks, norm, causal=True):
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device).unsqueeze(0) if self.causal else None
        x = self.positions(self.embedding(F.pad(ids[:, :-1], (1, 0))))
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x) @ self.embedding.weight.T
# %% wrong | no positions + no final norm | no_positions+no_final_norm
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, embedding, positions, blocks, norm, causal=True):
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device).unsqueeze(0) if self.causal else None
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(x, mask)
        return x @ self.embedding.weight.T
# %% wrong | softmax + only the last word | probabilities+last_word_only
class CausalLanguageModel(nn.Module):
    """GPT in its simplest form."""

    def __init__(self, embedding, positions, blocks, norm, causal=True):
        super().__init__()
        self.embedding = embedding
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.causal = causal

    def forward(self, ids):
        words = ids.shape[1]
        mask = causal_mask(words, device=ids.device).unsqueeze(0) if self.causal else None
        x = self.positions(self.embedding(ids))
        for block in self.blocks:
            x = block(x, mask)
        return torch.softmax(self.norm(x[:, -1]) @ self.embedding.weight.T, dim=-1)
