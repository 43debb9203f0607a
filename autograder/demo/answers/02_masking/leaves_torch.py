# %% own
import numpy as np

# %% masking.causal_mask
def causal_mask(length):
    return torch.from_numpy(np.tri(length, dtype=np.float32))


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    words = x.detach().numpy()
    scaled = words @ words.swapaxes(-1, -2) / np.sqrt(np.array(words.shape[-1], dtype=words.dtype))
    exps = np.exp(scaled - scaled.max(-1, keepdims=True)) * mask.numpy()
    return torch.from_numpy(exps / exps.sum(-1, keepdims=True) @ words)


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.randn(d_model) / math.sqrt(d_model))

    def forward(self, x, mask):
        scaled = x @ torch.tensor(self.query.tolist(), dtype=x.dtype) / math.sqrt(x.shape[-1])
        alpha = torch.softmax(scaled.masked_fill(~mask, -math.inf), dim=-1)
        return (alpha.unsqueeze(-1) * x).sum(dim=1)
