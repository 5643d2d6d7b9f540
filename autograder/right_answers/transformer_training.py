"""Right answers to noam_learning_rate and smoothed_cross_entropy of chapter 08, each written in another way."""

import math

import torch
import torch.nn.functional as F

from autograder.right_answers import right_answer

# --- noam_learning_rate ----------------------------------------------------------------------------------------


@right_answer("noam_learning_rate")
def two_lines(step, d_model, warmup):
    if step == 0:
        return 0
    return d_model ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5))


@right_answer("noam_learning_rate")
def before_and_after(step, d_model, warmup):
    if step < warmup:
        return step / (warmup * math.sqrt(warmup * d_model))
    return 1 / math.sqrt(step * d_model)


@right_answer("noam_learning_rate")
def share_of_the_peak(step, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    rising = step / warmup
    return peak * (rising if rising <= 1 else rising**-0.5)


@right_answer("noam_learning_rate")
def through_logarithms(step, d_model, warmup):
    if not step:
        return 0.0
    rising, falling = math.log(step) - 1.5 * math.log(warmup), -0.5 * math.log(step)
    return math.exp(min(rising, falling) - 0.5 * math.log(d_model))


@right_answer("noam_learning_rate")
def smaller_of_a_tensor(step, d_model, warmup):
    both = torch.tensor([step * warmup**-1.5, step**-0.5 if step > 0 else 0.0], dtype=torch.float64)
    return (both.min() / math.sqrt(d_model)).item()


@right_answer("noam_learning_rate")
def error_at_zero(step, d_model, warmup):
    try:
        falling = step**-0.5
    except ZeroDivisionError:
        falling = math.inf
    return float(min(falling, step / warmup**1.5) / d_model**0.5)


# --- smoothed_cross_entropy ------------------------------------------------------------------------------------


@right_answer("smoothed_cross_entropy")
def distribution_written_out(logits, target, pad, smoothing):
    vocab = logits.size(-1)
    log_p = F.log_softmax(logits, dim=-1)
    wanted = torch.full(logits.shape, smoothing / (vocab - 2), dtype=logits.dtype)
    wanted[:, :, pad] = 0
    wanted.scatter_(2, target.unsqueeze(2), 1 - smoothing)
    losses = -(wanted * log_p).sum(2)
    real = target != pad
    return losses[real].sum() / real.sum()


@right_answer("smoothed_cross_entropy")
def from_sums(logits, target, pad, smoothing):
    """All other tokens are all tokens without the target and pad."""
    log_p = logits.log_softmax(-1)
    hit = log_p.gather(-1, target[..., None])[..., 0]
    others = log_p.sum(-1) - hit - log_p[..., pad]
    losses = -(1 - smoothing) * hit - smoothing / (logits.shape[-1] - 2) * others
    return losses.masked_select(target != pad).mean()


@right_answer("smoothed_cross_entropy")
def token_by_token(logits, target, pad, smoothing):
    losses = []
    for sentence, words in zip(logits, target, strict=True):
        for scores, word in zip(sentence, words.tolist(), strict=True):
            if word == pad:
                continue
            log_p = scores - torch.logsumexp(scores, dim=0)
            others = [i for i in range(len(scores)) if i not in (word, pad)]
            losses.append(-(1 - smoothing) * log_p[word] - smoothing * log_p[others].mean())
    return torch.stack(losses).mean()


@right_answer("smoothed_cross_entropy")
def with_one_hot(logits, target, pad, smoothing):
    flat, words = logits.flatten(0, 1), target.flatten()
    flat, words = flat[words != pad], words[words != pad]
    hit = F.one_hot(words, flat.size(1)).to(flat.dtype)
    blank = F.one_hot(torch.full_like(words, pad), flat.size(1)).to(flat.dtype)
    wanted = (1 - smoothing) * hit + smoothing / (flat.size(1) - 2) * (1 - hit - blank)
    log_p = flat - flat.logsumexp(dim=1, keepdim=True)
    return -torch.einsum("nv,nv->", wanted, log_p) / len(words)


@right_answer("smoothed_cross_entropy")
def library_with_a_distribution(logits, target, pad, smoothing):
    """torch's cross-entropy takes a whole distribution as its target."""
    real = target != pad
    scores, words = logits[real], target[real]
    wanted = torch.full_like(scores, smoothing / (scores.size(1) - 2))
    wanted[:, pad] = 0.0
    wanted[torch.arange(len(words)), words] = 1.0 - smoothing
    return F.cross_entropy(scores, wanted.detach())


@right_answer("smoothed_cross_entropy")
def plain_loss_and_a_correction(logits, target, pad, smoothing):
    vocab, real = logits.size(-1), target.ne(pad)
    plain = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad)
    log_p = torch.log_softmax(logits, dim=-1)
    allowed = torch.arange(vocab) != pad
    everyone = -(log_p[..., allowed].sum(-1) * real).sum() / real.sum()
    share = smoothing / (vocab - 2)
    return (1 - smoothing - share) * plain + share * everyone


@right_answer("smoothed_cross_entropy")
def weights_by_comparison(logits, target, pad, smoothing):
    words = torch.arange(logits.size(-1), device=logits.device)
    is_target = words == target.unsqueeze(-1)
    share = torch.full_like(logits, smoothing / (logits.size(-1) - 2))
    wanted = torch.where(is_target, 1.0 - smoothing, share.masked_fill(words == pad, 0.0))
    losses = -(wanted * torch.log_softmax(logits, dim=-1)).sum(dim=-1)
    return losses.where(target != pad, 0.0).sum() / (target != pad).sum()
