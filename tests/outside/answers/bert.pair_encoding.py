# %% right | lengths as a table, numpy
import numpy
from itertools import chain


def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    texts = [[[cls_id, *a, sep_id], [] if b is None else [*b, sep_id]] for a, b in zip(firsts, seconds, strict=True)]
    lengths = numpy.array([[len(part) for part in text] for text in texts])
    place = numpy.arange(lengths.sum(axis=1).max())
    mask = place < lengths.sum(axis=1, keepdims=True)
    segments = (place >= lengths[:, :1]) & mask
    ids = numpy.full(mask.shape, padding_id, dtype=numpy.int64)
    ids[mask] = list(chain.from_iterable(chain.from_iterable(texts)))
    return (torch.from_numpy(ids), torch.from_numpy(segments.astype(numpy.int64)), torch.from_numpy(mask))


# %% right | beginner
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    ids = []
    segs = []
    msk = []
    for i in range(len(firsts)):
        r = [cls_id]
        s = [0]
        which = 0
        for text in (firsts[i], seconds[i]):
            if text is None:
                continue
            for token in text:
                r.append(token)
                s.append(which)
            r.append(sep_id)
            s.append(which)
            which = which + 1
        ids.append(r)
        segs.append(s)
        msk.append([True] * len(r))
    biggest = 0
    for r in ids:
        if len(r) > biggest:
            biggest = len(r)
    for r, s, m in zip(ids, segs, msk):
        while len(r) < biggest:
            r.append(padding_id)
            s.append(0)
            m.append(False)
    return torch.tensor(ids), torch.tensor(segs), torch.tensor(msk)


# %% wrong | a single text gets no [SEP] | no_sep_behind_one_text
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    rows, segs = [], []
    for a, b in zip(firsts, seconds):
        if b is None:
            row, seg = [cls_id] + a, [0] * (len(a) + 1)
        else:
            row, seg = [cls_id] + a + [sep_id] + b + [sep_id], [0] * (len(a) + 2) + [1] * (len(b) + 1)
        rows.append(torch.tensor(row))
        segs.append(torch.tensor(seg))
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding_id)
    segments = nn.utils.rnn.pad_sequence(segs, batch_first=True)
    mask = torch.arange(ids.shape[1]) < torch.tensor([len(r) for r in rows])[:, None]
    return ids, segments, mask


# %% wrong | padding goes on with the segment of the last token, so padding behind a pair has segment 1 | padding_in_the_last_segment
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    rows, segs = [], []
    for a, b in zip(firsts, seconds):
        tail = [] if b is None else b + [sep_id]
        rows.append([cls_id] + a + [sep_id] + tail)
        segs.append([0] * (len(a) + 2) + [1] * len(tail))
    w = max(map(len, rows))
    ids = torch.tensor([r + [padding_id] * (w - len(r)) for r in rows])
    segments = torch.tensor([s + [s[-1]] * (w - len(s)) for s in segs])
    mask = torch.arange(w) < torch.tensor([len(r) for r in rows])[:, None]
    return ids, segments, mask


# %% wrong | mask with <= for < | mask_one_too_long
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    rows, segs = [], []
    for a, b in zip(firsts, seconds):
        tail = [] if b is None else b + [sep_id]
        rows.append([cls_id] + a + [sep_id] + tail)
        segs.append([0] * (len(a) + 2) + [1] * len(tail))
    w = max(map(len, rows))
    ids = torch.tensor([r + [padding_id] * (w - len(r)) for r in rows])
    segments = torch.tensor([s + [0] * (w - len(s)) for s in segs])
    mask = torch.arange(w) <= torch.tensor([len(r) for r in rows])[:, None]
    return ids, segments, mask


# %% wrong | special ids hard-coded as in BERT's vocabulary | ids_of_bert
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    rows, segs = [], []
    for a, b in zip(firsts, seconds):
        tail = [] if b is None else b + [102]
        rows.append([101] + a + [102] + tail)
        segs.append([0] * (len(a) + 2) + [1] * len(tail))
    w = max(map(len, rows))
    ids = torch.tensor([r + [padding_id] * (w - len(r)) for r in rows])
    segments = torch.tensor([s + [0] * (w - len(s)) for s in segs])
    mask = torch.arange(w) < torch.tensor([len(r) for r in rows])[:, None]
    return ids, segments, mask


# %% wrong | segments are 1 behind the first text's words | all_behind_in_second_segment
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    rows = [[cls_id] + a + [sep_id] + ([] if b is None else b + [sep_id]) for a, b in zip(firsts, seconds)]
    ids = nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], batch_first=True, padding_value=padding_id)
    place = torch.arange(ids.shape[1])
    segments = (place > torch.tensor([len(a) for a in firsts])[:, None]).long()
    mask = place < torch.tensor([len(r) for r in rows])[:, None]
    return ids, segments, mask


# %% wrong | no [CLS] + mask inverted | cls_missing+mask_inverted
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    rows, segs = [], []
    for a, b in zip(firsts, seconds):
        tail = [] if b is None else b + [sep_id]
        rows.append(a + [sep_id] + tail)
        segs.append([0] * (len(a) + 1) + [1] * len(tail))
    w = max(map(len, rows))
    ids = torch.tensor([r + [padding_id] * (w - len(r)) for r in rows])
    segments = torch.tensor([s + [0] * (w - len(s)) for s in segs])
    mask = torch.tensor([[False] * len(r) + [True] * (w - len(r)) for r in rows])
    return ids, segments, mask


# %% wrong | ids and segments both filled with the wrong number | padding_in_second_segment+ids_padded_with_zero
def encode_pairs(firsts, seconds, cls_id, sep_id, padding_id):
    rows, segs = [], []
    for a, b in zip(firsts, seconds):
        tail = [] if b is None else b + [sep_id]
        rows.append([cls_id] + a + [sep_id] + tail)
        segs.append([0] * (len(a) + 2) + [1] * len(tail))
    w = max(map(len, rows))
    ids = torch.tensor([r + [0] * (w - len(r)) for r in rows])
    segments = torch.tensor([s + [1] * (w - len(s)) for s in segs])
    mask = torch.arange(w) < torch.tensor([len(r) for r in rows])[:, None]
    return ids, segments, mask
