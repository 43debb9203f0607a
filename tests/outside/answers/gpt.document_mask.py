# %% right | row by row with a running number
def document_mask(ids, end_id):
    masks = []
    for row in ids:
        number, numbers = 0, []
        for token in row.tolist():
            numbers.append(number)
            if token == end_id:
                number += 1
        n = torch.tensor(numbers, device=ids.device)
        masks.append((n[:, None] == n[None, :]).tril())
    return torch.stack(masks)
# %% right | an end strictly between key and query, counted
def document_mask(ids, end_id):
    is_end = (ids == end_id)
    shifted = torch.zeros_like(is_end)
    shifted[:, 1:] = is_end[:, :-1]
    doc = torch.cumsum(shifted, dim=1)
    n = ids.size(1)
    causal = torch.tril(torch.ones(n, n, dtype=torch.bool, device=ids.device))
    return causal[None] & (doc.unsqueeze(2) == doc.unsqueeze(1))
# %% wrong | the end belongs to the next document | end_begins_the_next
def document_mask(ids, end_id):
    doc = (ids == end_id).cumsum(1)
    return (doc[:, :, None] == doc[:, None, :]).tril()
# %% wrong | not causal | documents_alone
def document_mask(ids, end_id):
    e = (ids == end_id).int()
    doc = e.cumsum(1) - e
    return doc[:, :, None] == doc[:, None, :]
# %% wrong | plain causal | causal_alone
def document_mask(ids, end_id):
    b, n = ids.shape
    return torch.ones(b, n, n, dtype=torch.bool, device=ids.device).tril()
# %% wrong | triu instead of tril | keys_as_rows
def document_mask(ids, end_id):
    e = (ids == end_id).int()
    doc = e.cumsum(1) - e
    return (doc[:, :, None] == doc[:, None, :]).triu()
# %% wrong | a float mask | numbers
def document_mask(ids, end_id):
    e = (ids == end_id).int()
    doc = e.cumsum(1) - e
    return (doc[:, :, None] == doc[:, None, :]).float().tril()
# %% wrong | cumsum over the batch | counted_over_the_batch
def document_mask(ids, end_id):
    e = (ids == end_id).int()
    doc = e.cumsum(0) - e
    return (doc[:, :, None] == doc[:, None, :]).tril()
# %% wrong | the triangle on the CPU | made_on_the_cpu
def document_mask(ids, end_id):
    e = (ids == end_id).int()
    doc = e.cumsum(1) - e
    n = ids.shape[1]
    return (doc[:, :, None] == doc[:, None, :]) & torch.ones(n, n).bool().tril()
