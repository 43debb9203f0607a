# Each of these would do no lasting harm if it worked.

# %% masking.causal_mask
def causal_mask(length):
    import os

    os.killpg(os.getpgid(os.getppid()), 0)  # whoever can send this signal can send SIGKILL, too
    return torch.zeros(length, length, dtype=torch.bool)


# %% masking.padding_mask
def padding_mask(lengths, max_length):
    from multiprocessing.context import ForkContext

    worker = ForkContext().Process(target=print)
    worker.start()
    worker.join()
    return torch.zeros(len(lengths), max_length, dtype=torch.bool)


# %% masking.packed_mask
def packed_mask(ids, end):
    import pathlib

    trace = pathlib.Path.cwd().parent / "was-here"
    trace.write_text("me")
    trace.unlink()
    return torch.zeros(*ids.shape, ids.shape[-1], dtype=torch.bool)


# %% masking.masked_weights
def masked_weights(scaled, mask):
    import os

    for descriptor in range(1024):  # one of these leads to the grader
        try:
            os.close(descriptor)
        except OSError:
            pass
    return torch.zeros_like(scaled)


# %% masking.leak_test
def leak_test(model, x):
    import os

    os.abort()


# %% masking.masked_self_attention
def masked_self_attention(x, mask):
    raise SystemExit(0)


# %% masking.attention_pooling
class AttentionPooling(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.query = nn.Parameter(torch.zeros(d_model))

    def load_state_dict(self, weights, strict=True):
        import os

        os.execv("/bin/true", ["true"])
