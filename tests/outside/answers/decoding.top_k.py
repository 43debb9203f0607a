# %% right | kthvalue
def top_k(probabilities, k):
    v = probabilities.size(-1)
    if k > v:
        k = v
    limit, _ = torch.kthvalue(probabilities, v - k + 1, dim=-1, keepdim=True)
    return F.normalize(probabilities.masked_fill(probabilities < limit, 0), p=1, dim=-1, eps=0.0)
# %% wrong | clamped to vocabulary - 1: the last word lost for k at or beyond the vocabulary | all_but_one_at_most
def top_k(probabilities, k):
    k = min(k, probabilities.shape[-1] - 1)
    values, places = probabilities.topk(k, dim=-1)
    kept = torch.zeros_like(probabilities).scatter(-1, places, values)
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | top k of the whole tensor, not of each row | k_of_all_rows_together
def top_k(probabilities, k):
    flat = probabilities.flatten()
    smallest = flat.topk(min(k, flat.numel())).values[-1]
    kept = torch.where(probabilities >= smallest, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | the first row's limit for all rows | one_limit_for_all_rows
def top_k(probabilities, k):
    k = min(k, probabilities.shape[-1])
    smallest = probabilities.topk(k, dim=-1).values.flatten()[k - 1]
    kept = torch.where(probabilities >= smallest, probabilities, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)
# %% wrong | the removed mass is given in equal shares to the kept words: proportions change | rest_in_equal_shares
def top_k(probabilities, k):
    k = min(k, probabilities.shape[-1])
    smallest = probabilities.topk(k, dim=-1).values[..., -1:]
    mask = probabilities >= smallest
    kept = probabilities * mask
    return kept + mask * (1 - kept.sum(dim=-1, keepdim=True)) / k
# %% wrong | softmax over the kept + values in sorted order | softmax_of_probabilities+only_k_numbers
def top_k(probabilities, k):
    k = min(k, probabilities.shape[-1])
    return torch.softmax(probabilities.topk(k, dim=-1).values, dim=-1)
