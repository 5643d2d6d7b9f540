"""What the three families learn from and how a decoder speaks: BERT, GPT and T5 (Devlin et al. 2019; Radford et al.
2018; Raffel et al. 2020).

Shape letters as in book/conventions.md: batch, heads, seq, vocab; d is the width of a head; past and new count the
positions that a cache holds and those that a call brings.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.reference.multi_head import masked_attention

IGNORED = -100  # the label that F.cross_entropy leaves out


def mlm_batch(tokens: Tensor, mask_id: int, special_ids: Sequence[int], vocab_size: int, generator: torch.Generator,
              probability: float = 0.15) -> tuple[Tensor, Tensor]:
    """Hides tokens for an encoder to guess (Devlin et al. 2019, section 3.1, task 1).

    Each token that is not special is chosen with the probability, for itself. A chosen one becomes mask_id (80 %), any
    id below vocab_size (10 %), or stays (10 %). tokens int64 (batch, seq) -> inputs, labels, both int64 (batch, seq);
    labels hold the token where it was chosen, -100 elsewhere.
    """
    lots, fates = torch.rand(2, *tokens.shape, generator=generator, device=generator.device).to(tokens.device)
    random_ids = torch.randint(vocab_size, tokens.shape, generator=generator, device=generator.device)
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype, device=tokens.device))
    chosen = ~special & (lots < probability)
    replaced = torch.where(fates < 0.8, mask_id, torch.where(fates < 0.9, random_ids.to(tokens.device), tokens))
    return torch.where(chosen, replaced, tokens), tokens.masked_fill(~chosen, IGNORED)


def next_token_loss(logits: Tensor, tokens: Tensor) -> Tensor:
    """-(1 / N) sum_t log softmax(logits_t)_(token t + 1), N = batch (seq - 1) (Radford et al. 2018, equation 1).

    logits (batch, seq, vocab), tokens int64 (batch, seq), seq at least 2, no padding -> 0-dim. What stands at the last
    position has nothing to be compared with.
    """
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def span_corruption(tokens: list[int], spans: Sequence[tuple[int, int]],
                    sentinels: Sequence[int]) -> tuple[list[int], list[int]]:
    """Cuts spans out of a sequence for a decoder to fill in (Raffel et al. 2020, section 3.1.4).

    inputs: tokens with each span replaced by a sentinel of its own; targets: sentinel, span, sentinel, span, .., and
    one sentinel more as the end. spans: non-empty (start, end), end exclusive, sorted and disjoint; they may touch.
    sentinels: at least len(spans) + 1 ids, used in this order.
    """
    inputs, targets, copied = [], [], 0
    for sentinel, (start, end) in zip(sentinels, spans, strict=False):  # at least one sentinel is left over
        inputs += [*tokens[copied:start], sentinel]
        targets += [sentinel, *tokens[start:end]]
        copied = end
    return inputs + tokens[copied:], [*targets, sentinels[len(spans)]]


def cached_attention(query: Tensor, key: Tensor, value: Tensor, cache: tuple[Tensor, Tensor] | None = None
                     ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """softmax(Q K^T / sqrt(d)) V over what was and what is new, causal (Shazeer 2019, section 2.4).

    query, key, value (batch, heads, new, d), cache None or (keys, values) of the past, each (batch, heads, past, d)
    -> output (batch, heads, new, d), cache of (batch, heads, past + new, d); the given one is left as it was.
    """
    if cache is not None:
        key, value = (torch.cat([old, more], dim=-2) for old, more in zip(cache, (key, value), strict=True))
    new, total = query.size(-2), key.size(-2)
    # The last rows of a causal mask: the first new query stands at position `past` and sees past + 1 keys.
    mask = torch.ones(new, total, dtype=torch.bool, device=query.device).tril(total - new)
    return masked_attention(query, key, value, mask)[0], (key, value)


def top_p_filter(logits: Tensor, p: float) -> Tensor:
    """Keeps the nucleus: the fewest most likely tokens whose probability reaches p (Holtzman et al. 2020, section 3.1).

    logits (batch, vocab) -> the same shape, minus infinity outside the nucleus. The token that crosses p belongs to it,
    so it is never empty; p = 0 keeps the most likely token, p = 1 all.
    """
    probabilities, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = probabilities.cumsum(dim=-1) - probabilities  # of all tokens that are more likely
    outside = (before >= p) & (p < 1)  # rounding lets a sum reach 1 before its last term
    outside[:, 0] = False
    return logits.masked_fill(torch.zeros_like(outside).scatter(-1, order, outside), -torch.inf)
