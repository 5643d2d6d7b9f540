"""Chapter 01, what comes out and how good it is: mistakes with greedy decoding and BLEU."""

import math
from collections import Counter

import torch

from autograder.exercises.bottleneck import CHAPTER, corpus_bleu, greedy_decode

# --- greedy_decode ---------------------------------------------------------------------------------------------


def _all_steps(model, state, bos, max_len):
    """The most probable words of max_len steps, whatever has ended: (batch, max_len)."""
    tokens, said = torch.full((len(state),), bos), []
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=-1)
        said.append(tokens)
    return torch.stack(said, dim=1)


def _behind_the_end(tokens, eos):
    """True behind the first eos of a row."""
    ends = (tokens == eos).int()
    return ends.cumsum(dim=1) - ends > 0


def _needed(tokens, eos):
    """The columns up to the one in which the last row finishes."""
    return tokens[:, : int((~_behind_the_end(tokens, eos)).sum(dim=1).max())]


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-decoding")
def bos_fed_every_step(model, state, bos, eos, max_len):
    """You feed bos in every step, so the model never hears what it has said."""
    tokens, said = torch.full((len(state),), bos), []
    finished = torch.zeros(len(state), dtype=torch.bool)
    while len(said) < max_len and not finished.all():
        logits, state = model.step(tokens, state)
        said.append(logits.argmax(dim=-1).masked_fill(finished, eos))
        finished |= said[-1] == eos
    return torch.stack(said, dim=1)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-decoding")
def state_not_carried(model, state, bos, eos, max_len):
    """You start every step from the first state, so the model does not know how far it has come."""
    tokens, said = torch.full((len(state),), bos), []
    finished = torch.zeros(len(state), dtype=torch.bool)
    while len(said) < max_len and not finished.all():
        logits, _ = model.step(tokens, state)
        tokens = logits.argmax(dim=-1).masked_fill(finished, eos)
        said.append(tokens)
        finished |= tokens == eos
    return torch.stack(said, dim=1)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-decoding")
def next_word_drawn(model, state, bos, eos, max_len):
    """You draw the next word at random from the probabilities; greedy decoding takes the most probable one."""
    tokens, said = torch.full((len(state),), bos), []
    finished = torch.zeros(len(state), dtype=torch.bool)
    while len(said) < max_len and not finished.all():
        logits, state = model.step(tokens, state)
        tokens = torch.multinomial(torch.softmax(logits, dim=-1), 1).squeeze(-1).masked_fill(finished, eos)
        said.append(tokens)
        finished |= tokens == eos
    return torch.stack(said, dim=1)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-decoding")
def argmax_over_the_batch(model, state, bos, eos, max_len):
    """Your argmax runs over the batch: for every word it finds the row that wants it most."""
    tokens, said = torch.full((len(state),), bos), []
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=0)
        said.append(tokens)
    return torch.stack(said, dim=1)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-decoding")
def bos_kept(model, state, bos, eos, max_len):
    """Your result still begins with bos, which was fed and not said."""
    tokens = _all_steps(model, state, bos, max_len)
    said = _needed(tokens.masked_fill(_behind_the_end(tokens, eos), eos), eos)
    return torch.cat([torch.full((len(state), 1), bos), said], dim=1)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-time-first")
def steps_stacked_as_rows(model, state, bos, eos, max_len):
    """Your rows are steps and your columns are sentences; it is asked for the other way round."""
    tokens = _all_steps(model, state, bos, max_len)
    return _needed(tokens.masked_fill(_behind_the_end(tokens, eos), eos), eos).T


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-end-of-sentence")
def end_ignored(model, state, bos, eos, max_len):
    """You never look at eos: every row goes on talking until max_len."""
    return _all_steps(model, state, bos, max_len)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-end-of-sentence")
def stops_with_the_first_row(model, state, bos, eos, max_len):
    """You stop as soon as one row has said eos, and cut the others off."""
    tokens, said = torch.full((len(state),), bos), []
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=-1)
        said.append(tokens)
        if (tokens == eos).any():
            break
    return torch.stack(said, dim=1)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-end-of-sentence")
def finished_rows_go_on(model, state, bos, eos, max_len):
    """You stop at the right time, but a row that has said eos goes on with other words until then."""
    return _needed(_all_steps(model, state, bos, max_len), eos)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-end-of-sentence")
def all_rows_at_once(model, state, bos, eos, max_len):
    """You wait for a step in which all rows say eos together, and forget who has said it before."""
    tokens, said = torch.full((len(state),), bos), []
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=-1)
        said.append(tokens)
        if (tokens == eos).all():
            break
    return torch.stack(said, dim=1)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-end-of-sentence")
def rest_filled_with_zeros(model, state, bos, eos, max_len):
    """You fill the rows that have ended with 0, which is a word like any other here."""
    tokens = _all_steps(model, state, bos, max_len)
    return _needed(tokens, eos).masked_fill(_behind_the_end(_needed(tokens, eos), eos), 0)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-end-of-sentence")
def filled_up_to_max_len(model, state, bos, eos, max_len):
    """Your result is always max_len wide; it should end where the last row ends."""
    tokens = _all_steps(model, state, bos, max_len)
    return tokens.masked_fill(_behind_the_end(tokens, eos), eos)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-end-of-sentence")
def last_column_missing(model, state, bos, eos, max_len):
    """You leave the loop before the last step is kept, so the eos of the last row is missing."""
    tokens, said = torch.full((len(state),), bos), []
    finished = torch.zeros(len(state), dtype=torch.bool)
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=-1).masked_fill(finished, eos)
        finished |= tokens == eos
        if finished.all():
            break
        said.append(tokens)
    return torch.stack(said, dim=1)


@greedy_decode.misconception(see=f"{CHAPTER}#mistake-end-of-sentence")
def max_len_ignored(model, state, bos, eos, max_len):
    """You stop only when all rows have ended; a model that never says eos then never stops."""
    tokens, said = torch.full((len(state),), bos), []
    finished = torch.zeros(len(state), dtype=torch.bool)
    while not finished.all():
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(dim=-1).masked_fill(finished, eos)
        finished |= tokens == eos
        said.append(tokens)
    return torch.stack(said, dim=1)


# --- corpus_bleu -----------------------------------------------------------------------------------------------


def _ngrams(tokens, n):
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))


def _found(hypotheses, references, n):
    """Clipped matches, and all n-grams of the hypotheses, over the corpus."""
    pairs = [(_ngrams(h, n), _ngrams(r, n)) for h, r in zip(hypotheses, references, strict=True)]
    return sum((h & r).total() for h, r in pairs), sum(h.total() for h, _ in pairs)


def _precisions(hypotheses, references, max_n):
    counts = [_found(hypotheses, references, n) for n in range(1, max_n + 1)]
    return [matches / total if total else 0.0 for matches, total in counts]


def _geometric(precisions):
    return math.prod(precisions) ** (1 / len(precisions))


def _ratio(hypotheses, references):
    """Length of the references over that of the hypotheses, in sum."""
    return sum(map(len, references)) / max(sum(map(len, hypotheses)), 1)


def _penalty(hypotheses, references):
    return min(1.0, math.exp(1 - _ratio(hypotheses, references)))


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-counts")
def counts_not_clipped(hypotheses, references, max_n=4):
    """You count a word as often as it is said; a hypothesis that repeats one right word is then perfect."""
    precisions = []
    for n in range(1, max_n + 1):
        pairs = [(_ngrams(h, n), _ngrams(r, n)) for h, r in zip(hypotheses, references, strict=True)]
        matches = sum(count for h, r in pairs for gram, count in h.items() if gram in r)
        total = sum(h.total() for h, _ in pairs)
        precisions.append(matches / total if total else 0.0)
    return 100 * _penalty(hypotheses, references) * _geometric(precisions)


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-counts")
def sets_in_place_of_counts(hypotheses, references, max_n=4):
    """You compare sets of n-grams; one that is said twice, and rightly so, counts only once."""
    precisions = []
    for n in range(1, max_n + 1):
        pairs = [(set(_ngrams(h, n)), set(_ngrams(r, n))) for h, r in zip(hypotheses, references, strict=True)]
        total = sum(len(h) for h, _ in pairs)
        precisions.append(sum(len(h & r) for h, r in pairs) / total if total else 0.0)
    return 100 * _penalty(hypotheses, references) * _geometric(precisions)


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-counts")
def averaged_over_sentences(hypotheses, references, max_n=4):
    """You average the BLEU of single sentences; one sentence without a long match then pulls it down to zero."""
    each = [100 * _penalty([h], [r]) * _geometric(_precisions([h], [r], max_n))
            for h, r in zip(hypotheses, references, strict=True)]
    return sum(each) / len(each)


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-counts")
def arithmetic_mean(hypotheses, references, max_n=4):
    """You take the arithmetic mean of the precisions, so good single words make up for a missing order."""
    return 100 * _penalty(hypotheses, references) * sum(_precisions(hypotheses, references, max_n)) / max_n


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-counts")
def root_forgotten(hypotheses, references, max_n=4):
    """You multiply the precisions and leave it there; the geometric mean also takes a root."""
    return 100 * _penalty(hypotheses, references) * math.prod(_precisions(hypotheses, references, max_n))


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-counts")
def divided_by_the_references(hypotheses, references, max_n=4):
    """You divide by the n-grams of the references: that is recall, and BLEU asks for precision."""
    counts = [(_found(hypotheses, references, n)[0], _found(references, references, n)[1])
              for n in range(1, max_n + 1)]
    return 100 * _penalty(hypotheses, references) * _geometric([m / t if t else 0.0 for m, t in counts])


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-counts")
def only_the_longest_order(hypotheses, references, max_n=4):
    """You use the n-grams of length max_n alone; the shorter ones count as well."""
    return 100 * _penalty(hypotheses, references) * _precisions(hypotheses, references, max_n)[-1]


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-penalty")
def penalty_inverted(hypotheses, references, max_n=4):
    """Your penalty punishes hypotheses that are too long; it is there for those that are too short."""
    penalty = min(1.0, math.exp(1 - 1 / _ratio(hypotheses, references)))
    return 100 * penalty * _geometric(_precisions(hypotheses, references, max_n))


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-penalty")
def penalty_missing(hypotheses, references, max_n=4):
    """There is no brevity penalty: whoever says one sure word and stops gets full marks."""
    return 100 * _geometric(_precisions(hypotheses, references, max_n))


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-penalty")
def long_hypotheses_rewarded(hypotheses, references, max_n=4):
    """Your penalty grows above 1 where the hypotheses are longer than the references: length is then a bonus."""
    return 100 * math.exp(1 - _ratio(hypotheses, references)) * _geometric(_precisions(hypotheses, references, max_n))


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-penalty")
def logarithm_of_zero(hypotheses, references, max_n=4):
    """The formula is right, but where an order has no match you take the logarithm of zero."""
    logs = [math.log(p) for p in _precisions(hypotheses, references, max_n)]
    return 100 * _penalty(hypotheses, references) * math.exp(sum(logs) / max_n)


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-penalty")
def smoothed_by_one(hypotheses, references, max_n=4):
    """You add one to every count, so an order without a match still scores; here nothing is smoothed."""
    counts = [_found(hypotheses, references, n) for n in range(1, max_n + 1)]
    return 100 * _penalty(hypotheses, references) * _geometric([(m + 1) / (t + 1) for m, t in counts])


@corpus_bleu.misconception(see=f"{CHAPTER}#mistake-bleu-penalty")
def between_zero_and_one(hypotheses, references, max_n=4):
    """Your BLEU goes from 0 to 1, and it is asked for in hundredths."""
    return _penalty(hypotheses, references) * _geometric(_precisions(hypotheses, references, max_n))
