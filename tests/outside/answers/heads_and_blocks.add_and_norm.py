# %% right | a table of two lambdas
def add_and_norm(x, sublayer, norm, dropout, norm_first):
    orders = {
        True: lambda z: z + dropout(sublayer(norm(z))),
        False: lambda z: norm(z + dropout(sublayer(z))),
    }
    return orders[bool(norm_first)](x)


# %% wrong | the two orders exchanged | pre_norm_although_not_first
def add_and_norm(x, sublayer, norm, dropout, norm_first):
    if norm_first:
        return norm(x + dropout(sublayer(x)))
    return x + dropout(sublayer(norm(x)))


# %% wrong | no residual connection in pre-norm | pre_norm_residual_left_out
def add_and_norm(x, sublayer, norm, dropout, norm_first):
    if norm_first:
        return dropout(sublayer(norm(x)))
    return norm(x + dropout(sublayer(x)))


# %% wrong | dropout forgotten in pre-norm only | pre_norm_dropout_left_out
def add_and_norm(x, sublayer, norm, dropout, norm_first):
    if norm_first:
        return x + sublayer(norm(x))
    return norm(x + dropout(sublayer(x)))


# %% wrong | dropout on x instead of on what is added | residual_dropped
def add_and_norm(x, sublayer, norm, dropout, norm_first):
    if norm_first:
        return dropout(x) + sublayer(norm(x))
    return norm(dropout(x) + sublayer(x))


# %% wrong | post-norm whose sublayer reads the normalised x, too | post_norm_reads_the_norm
def add_and_norm(x, sublayer, norm, dropout, norm_first):
    y = x + dropout(sublayer(norm(x)))
    return y if norm_first else norm(y)


# %% wrong | no residual connection + dropout after the norm | residual_left_out+dropped_after_the_norm
def add_and_norm(x, sublayer, norm, dropout, norm_first):
    if norm_first:
        return dropout(sublayer(norm(x)))
    return dropout(norm(sublayer(x)))
