"""Chapter 08, how a Transformer is trained: mistakes with the learning rate and the smoothed loss."""

import torch

from autograder.exercises.transformer import CHAPTER
from autograder.exercises.transformer_training import noam_learning_rate, smoothed_cross_entropy

# --- noam_learning_rate ----------------------------------------------------------------------------------------


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def larger_of_the_two(step, d_model, warmup):
    """You take the larger of the two numbers; the smaller one makes it rise first and fall later."""
    if step == 0:
        return 0.0
    return d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def width_left_out(step, d_model, warmup):
    """You leave d_model out: a wider model needs a smaller rate."""
    if step == 0:
        return 0.0
    return min(step**-0.5, step * warmup**-1.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def multiplied_by_the_root(step, d_model, warmup):
    """You multiply by the root of d_model; it is divided by it, d_model ** -0.5."""
    if step == 0:
        return 0.0
    return d_model**0.5 * min(step**-0.5, step * warmup**-1.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def divided_by_the_width(step, d_model, warmup):
    """You divide by d_model; it is divided by its root."""
    if step == 0:
        return 0.0
    return min(step**-0.5, step * warmup**-1.5) / d_model


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def the_two_lines_do_not_meet(step, d_model, warmup):
    """Your rising line is step / warmup; only with warmup ** -1.5 it meets the falling curve at step warmup."""
    if step == 0:
        return 0.0
    return d_model**-0.5 * min(step**-0.5, step / warmup)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def never_warmed_up(step, d_model, warmup):
    """Your rate falls from the first step on; during the warmup it rises."""
    if step == 0:
        return 0.0
    return d_model**-0.5 * step**-0.5


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def never_falls(step, d_model, warmup):
    """Your rate stays where it is after the warmup; it falls with the root of the step."""
    if step == 0:
        return 0.0
    return d_model**-0.5 * min(warmup**-0.5, step * warmup**-1.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def zero_to_a_negative_power(step, d_model, warmup):
    """Step 0 is not handled: 0 ** -0.5 raises ZeroDivisionError, where the rate is 0."""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def step_zero_taken_for_step_one(step, d_model, warmup):
    """At step 0 you return the rate of step 1; it is 0."""
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def one_step_ahead(step, d_model, warmup):
    """You add 1 to the step, so the rate is that of the next step."""
    step = step + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def power_without_brackets(step, d_model, warmup):
    """In `d_model ** -1/2` the power comes first, so it is half of 1 / d_model; a root is `d_model ** -0.5`."""
    if step == 0:
        return 0.0
    return d_model**-1 / 2 * min(step**-0.5, step * warmup**-1.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def warmup_to_the_minus_half(step, d_model, warmup):
    """You multiply step by warmup ** -0.5; only with warmup ** -1.5 the lines meet at step warmup."""
    if step == 0:
        return 0.0
    return d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)


@noam_learning_rate.misconception(see=f"{CHAPTER}#mistake-warmup")
def peak_without_warmup(step, d_model, warmup):
    """Your largest rate is d_model ** -0.5 whatever warmup is; it is (d_model * warmup) ** -0.5."""
    if step == 0:
        return 0.0
    return d_model**-0.5 * min((step / warmup) ** -0.5, step / warmup)


# --- smoothed_cross_entropy ------------------------------------------------------------------------------------


def smoothed(logits, target, pad, share, smoothing):
    """The loss of every token when each word but the target and pad gets `share`: (batch, seq)."""
    log_p = torch.log_softmax(logits, dim=-1)
    wanted = torch.full_like(log_p, share)
    wanted[..., pad] = 0.0
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return -(wanted * log_p).sum(dim=-1)


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def shared_among_all(logits, target, pad, smoothing):
    """You share smoothing among all tokens, the target and pad too; the target gets exactly 1 - smoothing."""
    log_p = torch.log_softmax(logits, dim=-1)
    loss = -(1 - smoothing) * log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1) - smoothing * log_p.mean(dim=-1)
    return loss[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def shared_with_pad(logits, target, pad, smoothing):
    """You share smoothing among V - 1 tokens, pad with them; pad is never right and gets nothing."""
    log_p = torch.log_softmax(logits, dim=-1)
    wanted = torch.full_like(log_p, smoothing / (logits.size(-1) - 1))
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return -(wanted * log_p).sum(dim=-1)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def pad_given_a_share_too(logits, target, pad, smoothing):
    """Your shares are right, but pad gets one as well, so the distribution sums to more than 1."""
    log_p = torch.log_softmax(logits, dim=-1)
    wanted = torch.full_like(log_p, smoothing / (logits.size(-1) - 2))
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return -(wanted * log_p).sum(dim=-1)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def share_too_small(logits, target, pad, smoothing):
    """You divide smoothing by V - 1 and leave pad out; V - 2 tokens share it, else the sum is less than 1."""
    loss = smoothed(logits, target, pad, smoothing / (logits.size(-1) - 1), smoothing)
    return loss[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def whole_mass_for_each(logits, target, pad, smoothing):
    """Each other token gets the whole of smoothing; they share it equally."""
    return smoothed(logits, target, pad, smoothing, smoothing)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def not_smoothed(logits, target, pad, smoothing):
    """You do not use smoothing: this is the plain cross-entropy."""
    return smoothed(logits, target, pad, 0.0, 0.0)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def target_gets_the_smoothing(logits, target, pad, smoothing):
    """The target gets smoothing and the others share the rest; it is the other way round."""
    share = (1 - smoothing) / (logits.size(-1) - 2)
    return smoothed(logits, target, pad, share, 1 - smoothing)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def pads_in_the_divisor(logits, target, pad, smoothing):
    """You set the loss of padding to 0, and still divide by the number of all positions."""
    loss = smoothed(logits, target, pad, smoothing / (logits.size(-1) - 2), smoothing)
    return (loss * (target != pad)).mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def padding_learned(logits, target, pad, smoothing):
    """Your mean runs over all positions, so the model is taught to say padding."""
    return smoothed(logits, target, pad, smoothing / (logits.size(-1) - 2), smoothing).mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def loss_added_up(logits, target, pad, smoothing):
    """You add the loss of the tokens up; their mean is asked for."""
    loss = smoothed(logits, target, pad, smoothing / (logits.size(-1) - 2), smoothing)
    return loss[target != pad].sum()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def divided_by_the_sentences(logits, target, pad, smoothing):
    """You divide the sum by the number of sentences; the mean runs over all real tokens."""
    loss = smoothed(logits, target, pad, smoothing / (logits.size(-1) - 2), smoothing)
    return loss[target != pad].sum() / logits.size(0)


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def target_gets_a_share_as_well(logits, target, pad, smoothing):
    """Your target gets a share of smoothing on top of 1 - smoothing, so the distribution sums to more than 1."""
    log_p, share = torch.log_softmax(logits, dim=-1), smoothing / (logits.size(-1) - 2)
    loss = smoothed(logits, target, pad, share, smoothing)
    return (loss - share * log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1))[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def mean_of_the_sentences(logits, target, pad, smoothing):
    """You average each sentence first and then the sentences; every token counts the same."""
    loss, real = smoothed(logits, target, pad, smoothing / (logits.size(-1) - 2), smoothing), target != pad
    return ((loss * real).sum(dim=1) / real.sum(dim=1)).mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def logarithm_of_the_softmax(logits, target, pad, smoothing):
    """You take the logarithm of a softmax, which rounds a very unlikely word to 0; `log_softmax` never takes log 0."""
    log_p = torch.log(torch.softmax(logits, dim=-1))
    wanted = torch.full_like(log_p, smoothing / (logits.size(-1) - 2))
    wanted[..., pad] = 0.0
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return -(wanted * log_p).sum(dim=-1)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def exponentials_of_large_logits(logits, target, pad, smoothing):
    """The exponential of a large logit is infinite; `log_softmax` first takes the largest one away from all of them."""
    log_p = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    wanted = torch.full_like(log_p, smoothing / (logits.size(-1) - 2))
    wanted[..., pad] = 0.0
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return -(wanted * log_p).sum(dim=-1)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def probabilities_for_logarithms(logits, target, pad, smoothing):
    """You multiply the target distribution with probabilities; the loss takes their logarithms."""
    share, p = smoothing / (logits.size(-1) - 2), torch.softmax(logits, dim=-1)
    wanted = torch.full_like(p, share)
    wanted[..., pad] = 0.0
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return -(wanted * p).sum(dim=-1)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def divergence_returned(logits, target, pad, smoothing):
    """You return the KL divergence, which is the cross-entropy less the entropy of the target distribution."""
    log_p = torch.log_softmax(logits, dim=-1)
    wanted = torch.full_like(log_p, smoothing / (logits.size(-1) - 2))
    wanted[..., pad] = 0.0
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return (torch.xlogy(wanted, wanted) - wanted * log_p).sum(dim=-1)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def pad_taken_out_of_the_softmax(logits, target, pad, smoothing):
    """You hide pad from the softmax as well; only the target distribution gives it nothing."""
    hidden = torch.zeros(logits.size(-1), dtype=torch.bool)
    hidden[pad] = True
    logits = logits.masked_fill(hidden, -1e9)
    return smoothed(logits, target, pad, smoothing / (logits.size(-1) - 2), smoothing)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def softmax_over_the_tokens(logits, target, pad, smoothing):
    """Your softmax runs over the tokens of a sentence; it runs over the vocabulary, the last axis."""
    log_p = torch.log_softmax(logits, dim=1)
    wanted = torch.full_like(log_p, smoothing / (logits.size(-1) - 2))
    wanted[..., pad] = 0.0
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return -(wanted * log_p).sum(dim=-1)[target != pad].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def pad_is_always_token_zero(logits, target, pad, smoothing):
    """You take 0 for padding; the argument `pad` says which token it is."""
    return smoothed(logits, target, 0, smoothing / (logits.size(-1) - 2), smoothing)[target != 0].mean()


@smoothed_cross_entropy.misconception(see=f"{CHAPTER}#mistake-smoothing")
def tiny_number_in_the_logarithm(logits, target, pad, smoothing):
    """You add 1e-9 to a softmax before the logarithm, which bends every loss; log_softmax needs no such help."""
    log_p = torch.log(torch.softmax(logits, dim=-1) + 1e-9)
    wanted = torch.full_like(log_p, smoothing / (logits.size(-1) - 2))
    wanted[..., pad] = 0.0
    wanted.scatter_(-1, target.unsqueeze(-1), 1.0 - smoothing)
    return -(wanted * log_p).sum(dim=-1)[target != pad].mean()
