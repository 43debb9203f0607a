# %% right | a loop over two pairs, mask by keyword
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        def attend(y):
            return self.self_attention(x=y, memory=y, mask=mask)

        for join, sublayer in ((self.add_and_norm_1, attend), (self.add_and_norm_2, lambda y: self.feed_forward(y))):
            x = join(x, sublayer)
        return x


# %% right | functools.partial, the mask expanded to its full shape
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        from functools import partial

        full = None if mask is None else mask.expand(len(x), x.shape[1], x.shape[1])
        attend = partial(lambda mask, y: self.self_attention(y, y, mask), full)
        return self.add_and_norm_2(self.add_and_norm_1(x, attend), self.feed_forward)


# %% wrong | the network before the attention | sublayers_and_norms_exchanged
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        x = self.add_and_norm_1(x, self.feed_forward)
        return self.add_and_norm_2(x, lambda y: self.self_attention(y, y, mask))


# %% wrong | only the queries are what the add & norm hands over, keys and values are x | attends_to_the_input
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, x, mask))
        return self.add_and_norm_2(x, self.feed_forward)


# %% wrong | the attention is computed first, and handed over | attended_before_the_norm
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        attended = self.self_attention(x, x, mask)
        x = self.add_and_norm_1(x, lambda _: attended)
        return self.add_and_norm_2(x, self.feed_forward)


# %% wrong | the padding turned round, as torch wants it | mask_inverted
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        hidden = None if mask is None else ~mask
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, hidden))
        return self.add_and_norm_2(x, self.feed_forward)


# %% wrong | one add & norm for both | one_norm_for_both
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        x = self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        return self.add_and_norm_1(x, self.feed_forward)


# %% wrong | the residual connections written out once more
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        x = x + self.add_and_norm_1(x, lambda y: self.self_attention(y, y, mask))
        return x + self.add_and_norm_2(x, self.feed_forward)


# %% wrong | no mask + the second half from the start | mask_ignored+network_reads_the_start
class EncoderBlock(nn.Module):
    def __init__(self, self_attention, add_and_norm_1, feed_forward, add_and_norm_2):
        super().__init__()
        self.self_attention = self_attention
        self.add_and_norm_1 = add_and_norm_1
        self.feed_forward = feed_forward
        self.add_and_norm_2 = add_and_norm_2

    def forward(self, x, mask=None):
        half = self.add_and_norm_1(x, lambda y: self.self_attention(y, y))
        return self.add_and_norm_2(half, lambda y: self.feed_forward(x))
