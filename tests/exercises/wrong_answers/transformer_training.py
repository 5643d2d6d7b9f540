"""Chapter 08: noam_learning_rate and smoothed_cross_entropy."""

import torch
import torch.nn.functional as F

from autograder.reference.training import noam_learning_rate as rate
from autograder.reference.training import smoothed_cross_entropy as right


def noam(shape):
    """d_model^-0.5 times `shape(step, warmup)`, and 0 at step 0."""
    return lambda step, d_model, warmup: 0.0 if step == 0 else d_model**-0.5 * shape(step, warmup)


NOAM = {
    "step squared": noam(lambda step, warmup: min(step**-0.5, step**2 * warmup**-2.5)),
    "falls too fast": noam(lambda step, warmup: min(1 / step, step * warmup**-2)),
    "falls too slowly": noam(lambda step, warmup: min(step**-0.25, step * warmup**-1.25)),
    "warmup to the 1.5": noam(lambda step, warmup: min(step**-0.5, step * warmup**1.5)),
    "product of the two": noam(lambda step, warmup: step**-0.5 * step * warmup**-1.5),
    "mean of the two": noam(lambda step, warmup: (step**-0.5 + step * warmup**-1.5) / 2),
    "rising only": noam(lambda step, warmup: step * warmup**-1.5),
    "constant after a start": noam(lambda step, warmup: min(1.0, step / warmup)),
    "warmup of 4000 always": noam(lambda step, warmup: min(step**-0.5, step * 4000**-1.5)),
    "warmup of 400 always": noam(lambda step, warmup: min(step**-0.5, step * 400**-1.5)),
    "width of 64 always": lambda step, d_model, warmup: rate(step, 64, warmup),
    "one step late": lambda step, d_model, warmup: rate(max(step - 1, 0), d_model, warmup),
    "infinite at step 0": lambda step, d_model, warmup: float("inf") if step == 0 else rate(step, d_model, warmup),
    "none at step 0": lambda step, d_model, warmup: rate(step, d_model, warmup) if step else None,
    "one at step 0": lambda step, d_model, warmup: rate(step, d_model, warmup) if step else 1.0,
    "a tensor": lambda step, d_model, warmup: torch.tensor(rate(step, d_model, warmup)),
    "a pair": lambda step, d_model, warmup: (rate(step, d_model, warmup), step),
    "relative to the peak": noam(lambda step, warmup: min((step / warmup) ** -0.5, step / warmup)),
    "twice as much": lambda step, d_model, warmup: 2 * rate(step, d_model, warmup),
    "warmup and width changed over": lambda step, d_model, warmup: rate(step, warmup, d_model),
    "whole numbers": lambda step, d_model, warmup: int(rate(step, d_model, warmup)),
}


def of_distribution(make):
    """The mean over real tokens of -sum q log p, for `q = make(log_p, target, pad, smoothing)`."""
    def loss(logits, target, pad, smoothing):
        real = target != pad
        log_p = torch.log_softmax(logits[real], dim=-1)
        return -(make(log_p, target[real], pad, smoothing) * log_p).sum(-1).mean()

    return loss


def quotas(log_p, target, share, hit):
    return torch.full_like(log_p, share).scatter(1, target.unsqueeze(1), hit)


def twice_softmax(logits, target, pad, smoothing):
    return right(torch.softmax(logits, dim=-1), target, pad, smoothing)


def every_axis_squeezed(logits, target, pad, smoothing):
    log_p, others = torch.log_softmax(logits, dim=-1), logits.size(-1) - 2
    hit = log_p.gather(-1, target.unsqueeze(-1)).squeeze()
    rest = log_p.sum(-1) - hit - log_p[..., pad]
    return -((1 - smoothing) * hit + smoothing / others * rest)[target != pad].mean()


def in_place(logits, target, pad, smoothing):
    loss = right(logits, target, pad, smoothing)
    target[target == pad] = 1
    return loss


def without_pad_logit(logits, target, pad, smoothing):
    """Pad is taken out of the softmax too."""
    hidden = torch.zeros(logits.size(-1), dtype=torch.bool)
    hidden[pad] = True
    return right(logits.masked_fill(hidden, -1e4), target, pad, smoothing)


def shares_by_hand(logits, target, pad, smoothing):
    """A softmax written out, without taking the largest logit away: infinite by infinite."""
    powers = logits.exp()
    log_p, others = (powers / powers.sum(-1, keepdim=True)).log(), logits.size(-1) - 2
    hit = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    rest = log_p.sum(-1) - hit - log_p[..., pad]
    return -((1 - smoothing) * hit + smoothing / others * rest)[target != pad].mean()


def normalised_by_hand(logits, target, pad, smoothing):
    log_p, others = logits - logits.exp().sum(-1, keepdim=True).log(), logits.size(-1) - 2
    hit = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    rest = log_p.sum(-1) - hit - log_p[..., pad]
    return -((1 - smoothing) * hit + smoothing / others * rest)[target != pad].mean()


SMOOTHED = {
    "shares by hand": shares_by_hand,
    "normalised by hand": normalised_by_hand,
    "negative": lambda *args: -right(*args),
    "every axis squeezed": every_axis_squeezed,
    "one for each token": lambda logits, target, pad, smoothing: torch.stack(
        [right(logits[i:i + 1], target[i:i + 1], pad, smoothing) for i in range(len(logits))]),
    "a number": lambda *args: right(*args).item(),
    "shape (1,)": lambda *args: right(*args).reshape(1),
    "softmax twice": twice_softmax,
    "base two": lambda *args: right(*args) / torch.log(torch.tensor(2.0)).to(args[0].dtype),
    "smoothing squared": lambda logits, target, pad, smoothing: right(logits, target, pad, smoothing**2),
    "smoothing of a tenth always": lambda logits, target, pad, smoothing: right(logits, target, pad, 0.1),
    "pad 0 always": lambda logits, target, pad, smoothing: right(logits, target, 0, smoothing),
    "pad hidden in the softmax": without_pad_logit,
    "target one": of_distribution(lambda log_p, target, pad, e: quotas(
        log_p, target, e / (log_p.size(1) - 2), 1.0)),
    "target gets a share on top": of_distribution(lambda log_p, target, pad, e: quotas(
        log_p, target, e / log_p.size(1), 1 - e + e / (log_p.size(1) - 1))),
    "target gets its share too": of_distribution(lambda log_p, target, pad, e: quotas(
        log_p, target, e / (log_p.size(1) - 2), 1 - e + e / (log_p.size(1) - 2)).index_fill(
            1, torch.tensor([pad]), 0.0)),
    "others share by three": of_distribution(lambda log_p, target, pad, e: quotas(
        log_p, target, e / (log_p.size(1) - 3), 1 - e)),
    "only the others": of_distribution(lambda log_p, target, pad, e: quotas(
        log_p, target, e / (log_p.size(1) - 2), 0.0)),
    "mean over the vocabulary": lambda logits, *rest: right(logits, *rest) / logits.size(-1),
    "entropy subtracted": lambda logits, target, pad, e: right(logits, target, pad, e) + e * torch.log(
        torch.tensor(max(e, 1e-9), dtype=logits.dtype)),
    "last token forgotten": lambda logits, target, *rest: right(logits[:, :-1], target[:, :-1], *rest),
    "shifted by one": lambda logits, target, *rest: right(logits[:, :-1], target[:, 1:], *rest),
    "sum of a sentence": lambda logits, target, pad, e: right(
        logits, target, pad, e) * (target != pad).sum() / len(target),
    "squared difference": lambda logits, target, pad, e: F.mse_loss(
        torch.softmax(logits, -1), F.one_hot(target, logits.size(-1)).to(logits.dtype)),
    "only the target": of_distribution(lambda log_p, target, pad, e: quotas(
        log_p, target, 0.0, 1 - e)),
    "detached": lambda logits, *rest: right(logits.detach(), *rest),
    "always float32": lambda logits, *rest: right(logits.float(), *rest),
    "float32 inside": lambda logits, *rest: right(logits.float(), *rest).to(logits.dtype),
    "in place": in_place,
    "the library's smoothing": lambda logits, target, pad, e: F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=pad, label_smoothing=e),
}

WRONG = {"noam_learning_rate": NOAM, "smoothed_cross_entropy": SMOOTHED}

NAMED = {
    ("smoothed_cross_entropy", "shares by hand"): "exponentials_of_large_logits",
    ("smoothed_cross_entropy", "normalised by hand"): "exponentials_of_large_logits",
    ("smoothed_cross_entropy", "sum of a sentence"): "divided_by_the_sentences",
    ("smoothed_cross_entropy", "target gets its share too"): "target_gets_a_share_as_well",
    ("noam_learning_rate", "warmup to the 1.5"): "never_warmed_up",
    ("noam_learning_rate", "relative to the peak"): "peak_without_warmup",
    ("smoothed_cross_entropy", "pad 0 always"): "pad_is_always_token_zero",
    ("smoothed_cross_entropy", "pad hidden in the softmax"): "pad_taken_out_of_the_softmax",
    ("smoothed_cross_entropy", "the library's smoothing"): "shared_among_all",
}
