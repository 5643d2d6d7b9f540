"""What the scale 1 / sqrt(d_k) does (Vaswani et al. 2017, section 3.2.1, footnote 4)."""

import torch
from torch import Tensor


def dot_product_std(d_k: int, samples: int, generator: torch.Generator) -> float:
    """The measured standard deviation of q . k over `samples` >= 2 pairs of standard normal vectors of size d_k.

    In theory Var(q . k) = d_k, so the value lies near sqrt(d_k).
    """
    q = torch.randn(samples, d_k, generator=generator)
    k = torch.randn(samples, d_k, generator=generator)
    return (q * k).sum(dim=-1).std().item()


def attention_entropy(weights: Tensor) -> Tensor:
    """H = -sum_j w_j ln w_j in nats, with 0 ln 0 = 0: weights (..., n_k) -> (...).

    From 0 (all weight on one key) to ln n_k (the same weight on every key).
    """
    logs = torch.where(weights > 0, weights, 1.0).log()  # ln 1 = 0 stands in where the weight is 0
    return -(weights * logs).sum(dim=-1)


def softmax_jacobian(p: Tensor) -> Tensor:
    """J_ij = dp_i / ds_j = p_i (1[i=j] - p_j), that is diag(p) - p p^T, for p = softmax(s).

    p (..., n) probabilities -> J (..., n, n). Every row sums to 0.
    """
    return torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)
