# %% right | masks expanded to their full shapes
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        n, t, s = len(x), x.shape[1], memory.shape[1]
        own = torch.ones(n, t, t, dtype=torch.bool) if mask is None else mask.expand(n, t, t)
        other = torch.ones(n, t, s, dtype=torch.bool) if memory_mask is None else memory_mask.expand(n, t, s)
        x = self.add_and_norm_1(x, lambda z: self.self_attention(z, z, own))
        x = self.add_and_norm_2(x, lambda z: self.cross_attention(z, memory, other))
        return self.add_and_norm_3(x, lambda z: self.feed_forward(z))
# %% wrong | memory_mask of the first query for all
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        x = self.add_and_norm_2(x, lambda y: self.cross_attention(y, memory, None if memory_mask is None else memory_mask[:, :1, :]))
        return self.add_and_norm_3(x, self.feed_forward)
# %% wrong | the memory asks | memory_asks
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        x = self.add_and_norm_2(x, lambda y: self.cross_attention(memory, y, mask=memory_mask))
        return self.add_and_norm_3(x, self.feed_forward)
# %% wrong | masks exchanged | masks_exchanged
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask=memory_mask))
        x = self.add_and_norm_2(x, lambda y: self.cross_attention(y, memory, mask=mask))
        return self.add_and_norm_3(x, self.feed_forward)
# %% wrong | feed-forward network before the cross-attention | feed_forward_second
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        x = self.add_and_norm_2(x, self.feed_forward)
        return self.add_and_norm_3(x, lambda y: self.cross_attention(y, memory, memory_mask))
# %% wrong | a causal mask of its own | own_causal_mask
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, torch.ones(1, y.shape[1], y.shape[1]).tril().bool()))
        x = self.add_and_norm_2(x, lambda y: self.cross_attention(y, memory, memory_mask))
        return self.add_and_norm_3(x, self.feed_forward)
# %% wrong | the encoder's block | no_cross_attention_by_number
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        return self.add_and_norm_2(x, self.feed_forward)
# %% wrong | memory_mask forgotten, and add_and_norm_2 twice | padding_seen+second_norm_twice
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        x = self.add_and_norm_2(x, lambda y: self.cross_attention(y, memory))
        return self.add_and_norm_2(x, self.feed_forward)
# %% right | functools.partial, masks by their names
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        def look_around(tokens):
            return self.self_attention(tokens, tokens, mask=mask)

        from functools import partial

        look_back = partial(self.cross_attention, memory=memory, mask=memory_mask)
        joined = zip([self.add_and_norm_1, self.add_and_norm_2, self.add_and_norm_3], [look_around, look_back, self.feed_forward])
        for join, sublayer in joined:
            x = join(x, sublayer)
        return x
# %% wrong | the sublayers called at once, on the block's input | called_before_the_norm
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        attended = self.self_attention(x, x, mask)
        x = self.add_and_norm_1(x, lambda _: attended)
        crossed = self.cross_attention(x, memory, memory_mask)
        x = self.add_and_norm_2(x, lambda _: crossed)
        fed = self.feed_forward(x)
        return self.add_and_norm_3(x, lambda _: fed)
# %% wrong | a lambda that closes over x and not its argument | attended_before_the_norm
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda _: self.self_attention(x, x, mask))
        x = self.add_and_norm_2(x, lambda y: self.cross_attention(y, memory, memory_mask))
        return self.add_and_norm_3(x, self.feed_forward)
# %% wrong | the cross-attention called before its norm | asked_before_the_norm
class DecoderBlock(nn.Module):
    def __init__(
        self, self_attention, add_and_norm_1, cross_attention, add_and_norm_2, feed_forward, add_and_norm_3
    ):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.cross_attention = cross_attention
        self.add_and_norm_2 = add_and_norm_2
        self.feed_forward = feed_forward
        self.add_and_norm_3 = add_and_norm_3

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        crossed = self.cross_attention(x, memory, memory_mask)
        x = self.add_and_norm_2(x, lambda _: crossed)
        return self.add_and_norm_3(x, self.feed_forward)
