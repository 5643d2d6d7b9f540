"""How a Transformer is trained and asked (Vaswani et al. 2017, sections 5.3, 5.4 and 6.1)."""

import torch
from torch import Tensor


def noam_learning_rate(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 min(step^-0.5, step warmup^-1.5), 0 at step 0 (section 5.3): up a straight line, down a root."""
    if step == 0:
        return 0.0
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def smoothed_cross_entropy(logits: Tensor, target: Tensor, pad: int, smoothing: float) -> Tensor:
    """-sum_k q_k log softmax(logits)_k, its mean over the real tokens (section 5.4; Szegedy et al. 2016, section 7).

    q: 1 - smoothing at the target, 0 at pad, smoothing / (V - 2) at each other token. logits (batch, seq, vocab),
    finite, V at least 3, target (batch, seq), at least one token real -> 0-dim.
    """
    real = target != pad
    log_p = torch.log_softmax(logits[real], dim=-1)
    share = smoothing / (logits.size(-1) - 2)
    wanted = torch.full_like(log_p, share)
    wanted[:, pad] = 0.0
    wanted.scatter_(1, target[real].unsqueeze(1), 1.0 - smoothing)
    return -(wanted * log_p).sum(dim=-1).mean()


@torch.no_grad()
def beam_search(model, state: Tensor, bos: int, eos: int, beam_size: int, max_len: int,
                length_penalty: float) -> Tensor:
    """For each row the best of `beam_size` beginnings that are carried on side by side (section 6.1; Wu et al. 2016).

    `model.step(tokens (batch,), state) -> (logits (batch, vocab), state)`; state: batch first. Beams are pruned by the
    sum of their log-probabilities; a finished one keeps its place; at the end the sum / length ** length_penalty
    decides, where the length counts eos. -> tokens (batch, width <= max_len) int64, without bos, filled with eos.
    """
    rows = len(state)
    state = state.repeat_interleave(beam_size, dim=0)  # beam b of row r is entry r * beam_size + b
    first_beam = torch.arange(rows, device=state.device).unsqueeze(1) * beam_size
    said = torch.full((rows, beam_size, 1), bos, dtype=torch.int64, device=state.device)
    finished = torch.zeros(rows, beam_size, dtype=torch.bool, device=state.device)
    total = torch.full((rows, beam_size), -torch.inf, device=state.device)
    total[:, 0] = 0.0  # at first all beams of a row are equal, so only one of them counts
    while said.size(-1) <= max_len and not finished.all():
        logits, state = model.step(said[..., -1].flatten(), state)
        vocab = logits.size(-1)
        log_p = _finished_stay(torch.log_softmax(logits, dim=-1).view(rows, beam_size, vocab), finished, eos)
        total, place = (total.unsqueeze(-1) + log_p).flatten(1).topk(beam_size, dim=1)
        origin, token = place // vocab, place % vocab
        said = torch.cat([said.take_along_dim(origin.unsqueeze(-1), dim=1), token.unsqueeze(-1)], dim=-1)
        finished = finished.take_along_dim(origin, dim=1) | (token == eos)
        state = state[(first_beam + origin).flatten()]
    return _best_beam(said[..., 1:], total, finished, eos, length_penalty)


def _finished_stay(log_p: Tensor, finished: Tensor, eos: int) -> Tensor:
    """A finished beam says eos again, at no cost, and nothing else: log_p (rows, beams, vocab) -> the same shape."""
    stay = torch.full_like(log_p, -torch.inf)
    stay[..., eos] = 0.0
    return torch.where(finished.unsqueeze(-1), stay, log_p)


def _best_beam(said: Tensor, total: Tensor, finished: Tensor, eos: int, length_penalty: float) -> Tensor:
    """said (rows, beams, steps) -> (rows, width), cut where the longest of the chosen ones ends."""
    length = (said != eos).sum(dim=-1) + finished
    chosen = (total / length**length_penalty).argmax(dim=1)
    tokens = said.take_along_dim(chosen[:, None, None], dim=1).squeeze(1)
    return tokens[:, : int((tokens != eos).sum(dim=1).max()) + 1]
