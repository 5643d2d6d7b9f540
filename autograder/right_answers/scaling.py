"""Right answers to the exercises of chapter 05, each written in another way."""

import math

import torch
import torch.nn.functional as F

from autograder.right_answers import right_answer

# --- dot_product_std -------------------------------------------------------------------------------------------


@right_answer("dot_product_std")
def divided_by_n(d_k, samples, generator):
    q = torch.randn(samples, d_k, generator=generator)
    k = torch.randn(samples, d_k, generator=generator)
    return torch.einsum("sd,sd->s", q, k).std(correction=0).item()


@right_answer("dot_product_std")
def keys_drawn_first(d_k, samples, generator):
    k = torch.randn(samples, d_k, generator=generator)
    q = torch.randn(samples, d_k, generator=generator)
    return float(torch.linalg.vecdot(q, k).var().sqrt())


@right_answer("dot_product_std")
def one_draw_for_both(d_k, samples, generator):
    q, k = torch.randn(2, samples, d_k, generator=generator)
    return (q * k).sum(1).std().item()


@right_answer("dot_product_std")
def vectors_in_columns(d_k, samples, generator):
    vectors = torch.empty(2 * d_k, samples, dtype=torch.float64).normal_(generator=generator)
    q, k = vectors[:d_k], vectors[d_k:]
    return torch.std_mean(torch.sum(q * k, dim=0))[0].item()


@right_answer("dot_product_std")
def feature_by_feature(d_k, samples, generator):
    products = torch.zeros(samples)
    for _ in range(d_k):
        products += torch.randn(samples, generator=generator) * torch.randn(samples, generator=generator)
    return torch.std(products, unbiased=False).item()


@right_answer("dot_product_std")
def formula_written_out(d_k, samples, generator):
    q = torch.normal(0.0, 1.0, (samples, 1, d_k), generator=generator)
    k = torch.normal(0.0, 1.0, (samples, d_k, 1), generator=generator)
    products = torch.bmm(q, k).flatten().tolist()
    mean = sum(products) / samples
    return math.sqrt(sum((product - mean) ** 2 for product in products) / (samples - 1))


@right_answer("dot_product_std")
def pair_by_pair(d_k, samples, generator):
    products = []
    for _ in range(samples):
        q = torch.randn(d_k, generator=generator)
        k = torch.randn(d_k, generator=generator)
        products.append(torch.dot(q, k))
    return torch.stack(products).std().item()


# --- attention_entropy -----------------------------------------------------------------------------------------


@right_answer("attention_entropy")
def with_xlogy(weights):
    return -torch.xlogy(weights, weights).sum(dim=-1)


@right_answer("attention_entropy")
def tiny_constant_added(weights):
    return -(weights * torch.log(weights + 1e-12)).sum(-1)


@right_answer("attention_entropy")
def clamped(weights):
    smallest = torch.finfo(weights.dtype).tiny
    return -torch.einsum("...k,...k->...", weights, weights.clamp(min=smallest).log())


@right_answer("attention_entropy")
def not_numbers_replaced(weights):
    return torch.nan_to_num(-weights * weights.log(), nan=0.0).sum(dim=-1)


@right_answer("attention_entropy")
def not_numbers_left_out(weights):
    return torch.nansum(weights * (1 / weights).log(), dim=-1)


@right_answer("attention_entropy")
def zeros_filled(weights):
    logs = torch.log(weights.masked_fill(weights == 0, 1.0))
    return (weights.unsqueeze(-2) @ logs.unsqueeze(-1)).neg().squeeze(-1).squeeze(-1)


@right_answer("attention_entropy")
def entropy_row_by_row(weights):
    def entropy(row):
        positive = row[row > 0]
        return -(positive * positive.log()).sum()

    rows = weights.reshape(-1, weights.size(-1))
    return torch.stack([entropy(row) for row in rows]).reshape(weights.shape[:-1])


@right_answer("attention_entropy")
def base_changed(weights):
    bits = torch.where(weights > 0, -weights * torch.log2(weights), torch.zeros_like(weights)).sum(dim=-1)
    return bits * math.log(2)


@right_answer("attention_entropy")
def normalised_first(weights):
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return -(weights * weights.clamp_min(1e-30).log()).sum(dim=-1)


# --- softmax_jacobian ------------------------------------------------------------------------------------------


@right_answer("softmax_jacobian")
def factored(p):
    identity = torch.eye(p.size(-1), dtype=p.dtype, device=p.device)
    return p.unsqueeze(-1) * (identity - p.unsqueeze(-2))


@right_answer("softmax_jacobian")
def jacobian_with_einsum(p):
    return torch.diag_embed(p) - torch.einsum("...i,...j->...ij", p, p)


@right_answer("softmax_jacobian")
def jacobian_with_matmul(p):
    column = p[..., None]
    return torch.eye(p.shape[-1]).to(p) * column - column @ column.mT


@right_answer("softmax_jacobian")
def diagonal_added_in_place(p):
    jacobian = -p.unsqueeze(-1) * p.unsqueeze(-2)
    jacobian.diagonal(dim1=-2, dim2=-1).add_(p)
    return jacobian


@right_answer("softmax_jacobian")
def vector_by_vector(p):
    vectors = p.reshape(-1, p.size(-1))
    matrices = [torch.diag(vector) - torch.outer(vector, vector) for vector in vectors]
    return torch.stack(matrices).reshape(*p.shape, p.size(-1))


@right_answer("softmax_jacobian")
def differentiated_by_torch(p):
    # log p are scores whose softmax is p
    derivative = torch.func.jacrev(lambda scores: torch.softmax(scores, dim=-1))
    matrices = torch.func.vmap(derivative)(p.log().reshape(-1, p.size(-1)))
    return matrices.reshape(*p.shape, p.size(-1))


@right_answer("softmax_jacobian")
def entry_by_entry(p):
    n = p.size(-1)

    def entry(i, j):
        return p[..., i] * (float(i == j) - p[..., j])

    return torch.stack([torch.stack([entry(i, j) for j in range(n)], dim=-1) for i in range(n)], dim=-2)


# --- scaled_dot_product_attention ------------------------------------------------------------------------------


@right_answer("scaled_dot_product_attention")
def attention_with_einsum(query, key, value):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5
    weights = scores.softmax(dim=-1)
    return torch.einsum("...qk,...kd->...qd", weights, value), weights


@right_answer("scaled_dot_product_attention")
def query_divided_first(query, key, value):
    weights = F.softmax((query / math.sqrt(key.size(-1))) @ key.mT, dim=-1)
    return weights @ value, weights


@right_answer("scaled_dot_product_attention")
def both_sides_scaled(query, key, value):
    root = query.size(-1) ** -0.25
    scores = (query * root) @ (key * root).transpose(-1, -2)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return weights.matmul(value), weights


@right_answer("scaled_dot_product_attention")
def with_helpers(query, key, value):
    def normalise(scores):
        exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        return exponentials / exponentials.sum(dim=-1, keepdim=True)

    def scaled_scores(query, key):
        return torch.matmul(query, key.swapaxes(-1, -2)) * torch.rsqrt(torch.tensor(query.size(-1)).to(query))

    weights = normalise(scaled_scores(query=query, key=key))
    return torch.matmul(weights, value), weights


@right_answer("scaled_dot_product_attention")
def one_flat_batch(query, key, value):
    leading = query.shape[:-2]
    q, k, v = (t.reshape(-1, *t.shape[-2:]) for t in (query, key, value))
    scores = torch.baddbmm(q.new_zeros(()), q, k.mT, beta=0, alpha=1 / math.sqrt(q.size(-1)))
    weights = torch.softmax(scores, dim=-1)
    out = torch.bmm(weights, v)
    return out.reshape(*leading, *out.shape[-2:]), weights.reshape(*leading, *weights.shape[-2:])


@right_answer("scaled_dot_product_attention")
def query_by_query(query, key, value):
    rows, outputs = [], []
    for q in query.unbind(dim=-2):
        scores = (key * q.unsqueeze(-2)).sum(dim=-1).div(math.sqrt(q.size(-1)))
        weights = torch.exp(torch.log_softmax(scores, dim=-1))
        rows.append(weights)
        outputs.append((weights.unsqueeze(-1) * value).sum(dim=-2))
    return torch.stack(outputs, dim=-2), torch.stack(rows, dim=-2)


@right_answer("scaled_dot_product_attention")
def divisor_is_a_tensor(query, key, value):
    d_k = query.shape[-1]
    scores = torch.matmul(query, key.transpose(-2, -1)) / torch.sqrt(torch.tensor(d_k, dtype=torch.float32))
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, value), weights
