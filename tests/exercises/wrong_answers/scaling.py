"""Chapter 05."""

import math

import torch
import torch.nn.functional as F


def pairs(d_k, samples, generator):
    return torch.randn(2, samples, d_k, generator=generator)


DOT_PRODUCT_STD = {
    "a tensor": lambda d, n, g: (torch.mul(*pairs(d, n, g))).sum(-1).std(),
    "axes swapped": lambda d, n, g: (torch.mul(*pairs(d, n, g))).sum(0).std().item(),
    "axes drawn the other way": lambda d, n, g: (torch.mul(*pairs(n, d, g))).sum(-1).std().item(),
    "largest": lambda d, n, g: (torch.mul(*pairs(d, n, g))).sum(-1).max().item(),
    "mean": lambda d, n, g: (torch.mul(*pairs(d, n, g))).sum(-1).mean().item(),
    "standard error": lambda d, n, g: (torch.mul(*pairs(d, n, g))).sum(-1).std().item() / math.sqrt(n),
    "features and pairs in one": lambda d, n, g: (torch.mul(*pairs(d, n, g))).sum().item(),
    "one vector only": lambda d, n, g: pairs(d, n, g)[0].sum(-1).std().item(),
    "theory with the noise of one number": lambda d, n, g: (torch.randn(n, generator=g).std() * math.sqrt(d)).item(),
    "sum of the two": lambda d, n, g: sum(pairs(d, n, g)).sum(-1).std().item(),
    "spread of half": lambda d, n, g: (torch.mul(*pairs(d, n, g))).sum(-1).std().item() / 2,
    "rounded": lambda d, n, g: float(round((torch.mul(*pairs(d, n, g))).sum(-1).std().item())),
    "one feature too many": lambda d, n, g: (torch.mul(*pairs(d + 1, n, g))).sum(-1).std().item(),
    "own generator": lambda d, n, g: (torch.mul(*pairs(d, n, torch.Generator()))).sum(-1).std().item(),
    "key from the global generator": lambda d, n, g: (
        torch.randn(n, d, generator=g) * torch.randn(n, d)).sum(-1).std().item(),
    "a tenth of the pairs": lambda d, n, g: (
        torch.mul(*pairs(d, max(n // 50, 2), g))).sum(-1).std().item() * (1 if n < 50 else 2),
    "at least a thousand pairs": lambda d, n, g: (torch.mul(*pairs(d, max(n, 1000), g))).sum(-1).std().item(),
    "theory with noise": lambda d, n, g: math.sqrt(d) + 1e-3 * torch.randn((), generator=g).item(),
    "signs": lambda d, n, g: (torch.mul(*pairs(d, n, g).sign())).sum(-1).std().item(),
}


def logs(weights):
    return torch.where(weights > 0, weights, 1.0).log()


def entropy(weights):
    return -(weights * logs(weights)).sum(-1)


ATTENTION_ENTROPY = {
    "decimal": lambda w: entropy(w) / math.log(10),
    "perplexity": lambda w: entropy(w).exp(),
    "Gini": lambda w: 1 - (w**2).sum(-1),
    "largest weight": lambda w: -w.amax(-1).log(),
    "one plus": lambda w: (w * torch.log1p(w)).sum(-1),
    "large constant": lambda w: -(w * (w + 1e-3).log()).sum(-1),
    "logarithm cut at -5": lambda w: -(w * logs(w).clamp(min=-5)).sum(-1),
    "small weights left out": lambda w: -(w * logs(w) * (w > 0.01)).sum(-1),
    "negative logarithm only": lambda w: -logs(w).sum(-1),
    "zeros spoil the row": lambda w: torch.nan_to_num(-(w * w.log()).sum(-1)),
    "zero where a weight is zero": lambda w: torch.where((w == 0).any(-1), 0.0, entropy(w)),
    "axis kept": lambda w: entropy(w).unsqueeze(-1),
    "axis 2": lambda w: -(w * logs(w)).sum(2),
    "mean over queries": lambda w: entropy(w).mean(-1),
    "rounded": lambda w: entropy(w).round(decimals=3),
    # Detaching the logarithm instead changes all entries of the gradient alike, which on probabilities is nothing.
    "detached weight": lambda w: -(w.detach() * logs(w)).sum(-1),
    "squeezed": lambda w: entropy(w).squeeze(),
    "view": lambda w: entropy(w.view(-1, w.size(-1))).view(w.shape[:-1]),
    "in place": lambda w: entropy(w.data.add_(1e-6) * 0 + w),
    "half precision": lambda w: entropy(w.bfloat16()).to(w.dtype),
    "difference from the most": lambda w: math.log(w.size(-1)) - entropy(w),
}


def outer(p):
    return p.unsqueeze(-1) * p.unsqueeze(-2)


SOFTMAX_JACOBIAN = {
    "diagonal squared": lambda p: torch.diag_embed(p**2) - outer(p),
    "diagonal of ones": lambda p: torch.eye(p.size(-1)).to(p) - outer(p),
    "identity times one minus": lambda p: torch.diag_embed(1 - p),
    "off the diagonal only": lambda p: torch.diag_embed(p**2) - outer(p),
    "half": lambda p: (torch.diag_embed(p) - outer(p)) / 2,
    "absolute": lambda p: (torch.diag_embed(p) - outer(p)).abs(),
    "upper triangle": lambda p: (torch.diag_embed(p) - outer(p)).triu(),
    "first vector for all": lambda p: (torch.diag_embed(p) - outer(p))[:1].expand(*p.shape, p.size(-1)),
    "off by one diagonal": lambda p: torch.diag_embed(p, offset=1)[..., :-1, :-1] - outer(p),
    "diagonal detached": lambda p: torch.diag_embed(p.detach()) - outer(p),
    "one factor detached": lambda p: torch.diag_embed(p) - p.unsqueeze(-1) * p.detach().unsqueeze(-2),
    "rounded": lambda p: (torch.diag_embed(p) - outer(p)).round(decimals=4),
    "float32 inside": lambda p: (torch.diag_embed(p.float()) - outer(p.float())).to(p.dtype),
    "float32 identity": lambda p: torch.eye(p.size(-1)) * p.float().unsqueeze(-1) - outer(p),
    "three axes only": lambda p: torch.diag_embed(p) - torch.einsum("bqi,bqj->bqij", p, p),
    "two axes only": lambda p: torch.stack([torch.diag(v) - torch.outer(v, v) for v in p]),
    "view": lambda p: (torch.diag_embed(p) - outer(p.view(-1, p.size(-1))).view(*p.shape, p.size(-1))),
    "squeezed": lambda p: (torch.diag_embed(p) - outer(p)).squeeze(),
    "probabilities softmaxed": lambda p: torch.diag_embed(torch.softmax(p, -1)) - outer(torch.softmax(p, -1)),
    "in place": lambda p: torch.diag_embed(p) - outer(p) + 0 * p.data.mul_(0.5).sum(),
    "vector times Jacobian": lambda p: p * (1 - p),
}


def mixed(weights, v):
    return weights @ v, weights


def attended(scores, value):
    return mixed(torch.softmax(scores, dim=-1), value)


def scaled(q, k):
    return q @ k.mT / math.sqrt(q.size(-1))


SCALED_DOT_PRODUCT_ATTENTION = {
    "a fixed scale": lambda q, k, v: attended(q @ k.mT / 8, v),
    "root rounded down": lambda q, k, v: attended(q @ k.mT / int(q.size(-1) ** 0.5), v),
    "root of the queries": lambda q, k, v: attended(q @ k.mT / math.sqrt(q.size(-2)), v),
    "root of the heads' axis": lambda q, k, v: attended(q @ k.mT / math.sqrt(q.size(1)), v),
    "fourth root": lambda q, k, v: attended(q @ k.mT / q.size(-1) ** 0.25, v),
    "both sides by the root": lambda q, k, v: attended(q / q.size(-1) ** 0.5 @ (k / q.size(-1) ** 0.5).mT, v),
    "output scaled": lambda q, k, v: (lambda o, w: (o / math.sqrt(q.size(-1)), w))(*attended(q @ k.mT, v)),
    "scores returned": lambda q, k, v: (attended(scaled(q, k), v)[0], scaled(q, k)),
    "weights first": lambda q, k, v: attended(scaled(q, k), v)[::-1],
    "weights detached": lambda q, k, v: (attended(scaled(q, k), v)[0], torch.softmax(scaled(q, k), -1).detach()),
    "weights of unscaled scores": lambda q, k, v: (attended(scaled(q, k), v)[0], torch.softmax(q @ k.mT, -1)),
    "key detached": lambda q, k, v: attended(scaled(q, k.detach()), v),
    "value detached": lambda q, k, v: attended(scaled(q, k), v.detach()),
    "transposed 1 and 2": lambda q, k, v: attended(q @ k.transpose(1, 2) / math.sqrt(q.size(-1)), v),
    "transposed 2 and 3": lambda q, k, v: attended(q @ k.transpose(2, 3) / math.sqrt(q.size(-1)), v),
    "four axes only": lambda q, k, v: attended(
        torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.size(-1)), v),
    "key reshaped": lambda q, k, v: attended(
        q @ k.reshape(*k.shape[:-2], k.size(-1), k.size(-2)) / math.sqrt(q.size(-1)), v),
    "softmax over heads": lambda q, k, v: mixed(torch.softmax(scaled(q, k), dim=1), v),
    "softmax over the batch": lambda q, k, v: mixed(torch.softmax(scaled(q, k), dim=0), v),
    "causal": lambda q, k, v: attended(scaled(q, k).masked_fill(
        torch.ones(q.size(-2), k.size(-2), dtype=torch.bool).triu(1), -1e9), v),
    "causal when square": lambda q, k, v: attended(scaled(q, k).masked_fill(
        torch.ones(q.size(-2), k.size(-2), dtype=torch.bool).triu(1 if q.size(-2) == k.size(-2) else 99), -1e9), v),
    "dropout": lambda q, k, v: mixed(F.dropout(torch.softmax(scaled(q, k), -1), 0.1), v),
    "float32 softmax": lambda q, k, v: mixed(torch.softmax(scaled(q, k).float(), -1).to(q.dtype), v),
    "rounded weights": lambda q, k, v: mixed(torch.softmax(scaled(q, k), -1).round(decimals=3), v),
    "scale from the value": lambda q, k, v: attended(q @ k.mT / math.sqrt(v.size(-1)), v),
    "view": lambda q, k, v: attended(scaled(q.view(q.shape), k), v.view(-1).view(v.shape)),
    "squeezed": lambda q, k, v: tuple(t.squeeze() for t in attended(scaled(q, k), v)),
    "in place on the key": lambda q, k, v: attended(q @ k.div_(math.sqrt(k.size(-1))).mT, v),
    "values averaged": lambda q, k, v: (v.mean(-2, keepdim=True).expand(*q.shape[:-1], v.size(-1)) + 0 * scaled(
        q, k).sum(), torch.softmax(scaled(q, k), -1)),
    "large scores cut": lambda q, k, v: attended(scaled(q, k).clamp(-1, 1), v),
}

WRONG = {
    "dot_product_std": DOT_PRODUCT_STD,
    "attention_entropy": ATTENTION_ENTROPY,
    "softmax_jacobian": SOFTMAX_JACOBIAN,
    "scaled_dot_product_attention": SCALED_DOT_PRODUCT_ATTENTION,
}

NAMED = {
    ("scaled_dot_product_attention", "weights first"): "output_and_weights_swapped",
    ("dot_product_std", "largest"): "variance_returned",  # near it for d_k = 11
    ("dot_product_std", "sum of the two"): "key_is_the_query",  # both have the variance 2 d_k
    ("dot_product_std", "rounded"): "generator_seeded_again",  # both give one number for every state
    ("dot_product_std", "own generator"): "generator_seeded_again",
    ("dot_product_std", "key from the global generator"): "generator_ignored",
    ("dot_product_std", "at least a thousand pairs"): "samples_ignored",
    ("dot_product_std", "theory with noise"): "samples_ignored",
    ("attention_entropy", "axis 2"): "summed_over_queries",
    ("attention_entropy", "decimal"): "logarithm_to_base_ten",
    ("attention_entropy", "large constant"): "large_constant_in_the_logarithm",
    ("softmax_jacobian", "diagonal of ones"): "identity_for_the_diagonal",
    ("softmax_jacobian", "probabilities softmaxed"): "softmax_of_probabilities",
    ("scaled_dot_product_attention", "both sides by the root"): "divided_by_d_k",
    ("scaled_dot_product_attention", "softmax over heads"): "normalised_over_queries",  # the same for three axes
    ("scaled_dot_product_attention", "scale from the value"): "divided_by_root_of_d_v",
    ("scaled_dot_product_attention", "in place on the key"): "argument_edited_in_place",
}
