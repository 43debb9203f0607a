# Each of these would do no lasting harm if it worked.

# %% attention.contextual_embedding
def contextual_embedding(embeddings, position):
    import os

    os.kill(os.getppid(), 0)  # whoever can send this signal can send SIGKILL, too: no grader, no bad grade
    return torch.zeros(embeddings.shape[-1])


# %% attention.scores
def dot_product_scores(q, k):
    import os

    if os.fork() == 0:
        os._exit(0)
    return torch.zeros(*q.shape[:-1], k.shape[-2])


# %% attention.scale
def scale_scores(scores, d_head):
    import sqlite3

    with sqlite3.connect("../../../gradebook.db") as gradebook:
        gradebook.execute("UPDATE grade SET manual_score = manual_score + 0")
    return torch.zeros_like(scores)


# %% attention.weights
def attention_weights(scaled):
    import socket

    socket.create_connection(("127.0.0.1", 8888), timeout=3).send(b"what is expected?")
    return torch.zeros_like(scaled)


# %% attention.scaled_dot_product
def scaled_dot_product_attention(q, k, v):
    import ctypes

    return ctypes.string_at(0)  # a crash that no `except` catches


# %% attention.dot_product_variance
def dot_product_variance(q, k):
    import os

    for descriptor in range(1024):  # one of these leads to the grader
        try:
            os.write(descriptor, b'{"returned": true}' * 1000)
        except OSError:
            pass
    return torch.zeros(())


# %% attention.softmax_jacobian
def softmax_jacobian(scores):
    import os

    return [os.listdir(home) for home in ("/root", "/home", "/tmp", "..")]


# %% attention.gradients
def attention_gradients(q, k, v, of_out):
    import os
    import stat

    os.chmod("/", stat.S_IMODE(os.stat("/").st_mode))
    return torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
