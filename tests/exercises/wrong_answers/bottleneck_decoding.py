"""Chapter 01, greedy decoding and BLEU."""

import math
from collections import Counter
from functools import partial
from itertools import chain

import torch

from autograder.reference.bottleneck import corpus_bleu, greedy_decode


def decode(model, state, bos, eos, max_len, *, pick=None, feed=None, fill=True, over=None, carry=None, first=None,
           steps=0):
    """Greedy decoding with one part replaced.

    pick(logits): the next words; feed(tokens, finished): what is fed back; over(finished): when to stop;
    carry(new state, old state, finished): the next state; first: what is fed at first; steps: more than max_len.
    """
    tokens = torch.full((len(state),), bos if first is None else first)
    finished, said = torch.zeros(len(state), dtype=torch.bool), []
    while len(said) < max_len + steps and not (over or torch.all)(finished):
        logits, new = model.step(feed(tokens, finished) if feed else tokens, state)
        state = carry(new, state, finished) if carry else new
        tokens = pick(logits) if pick else logits.argmax(-1)
        tokens = tokens.masked_fill(finished, eos) if fill else tokens
        finished = finished | (tokens == eos)
        said.append(tokens)
    return torch.stack(said, dim=1)


def slip(**parts):
    return partial(decode, **parts)


def changed(change):
    """The right tokens, changed afterwards by `change(tokens, bos, eos, max_len)`."""
    return lambda model, state, bos, eos, max_len: change(
        greedy_decode(model, state, bos, eos, max_len), bos, eos, max_len)


def wholly_fed(model, state, bos, eos, max_len):
    """Feeds everything that was said so far, as one would a model without a state."""
    said = torch.full((len(state), 1), bos)
    for _ in range(max_len):
        logits, state = model.step(said, state)
        said = torch.cat([said, logits.argmax(-1, keepdim=True)], dim=1)
    return said[:, 1:]


def logits_fed(model, state, bos, eos, max_len):
    """Feeds the logits back in place of a word."""
    fed, said = torch.full((len(state),), bos), []
    for _ in range(max_len):
        fed, state = model.step(fed, state)
        said.append(fed.argmax(-1))
    return torch.stack(said, dim=1)


def state_counted_in_place(model, state, bos, eos, max_len):
    """Writes the new state into the old one."""
    def into_the_old(new, old, finished):
        return old.copy_(new)

    return decode(model, state, bos, eos, max_len, carry=into_the_old)


def only_the_first_row(model, state, bos, eos, max_len):
    return greedy_decode(model, state[:1], bos, eos, max_len).expand(len(state), -1)


def until_max_len_minus_one(model, state, bos, eos, max_len):
    return greedy_decode(model, state, bos, eos, max(max_len - 1, 1))


def eos_counts_from_the_second_step(model, state, bos, eos, max_len):
    """Does not look at the first word: a row that is over at once goes on."""
    logits, state = model.step(torch.full((len(state),), bos), state)
    tokens = logits.argmax(-1)
    finished, said = torch.zeros(len(state), dtype=torch.bool), [tokens]
    while len(said) < max_len and not finished.all():
        logits, state = model.step(tokens, state)
        tokens = logits.argmax(-1).masked_fill(finished, eos)
        finished = finished | (tokens == eos)
        said.append(tokens)
    return torch.stack(said, dim=1)


GREEDY_DECODE = {
    "least probable": slip(pick=lambda logits: logits.argmin(-1)),
    "second best": slip(pick=lambda logits: logits.topk(2).indices[:, 1]),
    "largest absolute logit": slip(pick=lambda logits: logits.abs().argmax(-1)),
    "first positive logit": slip(pick=lambda logits: (logits > 0).int().argmax(-1)),
    "eos never chosen": slip(pick=lambda logits: logits.index_fill(-1, torch.tensor(5), -math.inf).argmax(-1)),
    "the probability itself": slip(pick=lambda logits: torch.softmax(logits, -1).amax(-1)),
    "one row's word for all": slip(pick=lambda logits: logits[0].argmax().expand(len(logits))),
    "argmax over everything": slip(pick=lambda logits: logits.argmax().expand(len(logits))),
    "logits averaged over the batch": slip(pick=lambda logits: logits.mean(0).argmax().expand(len(logits))),
    "begins with eos": slip(first=5),
    "begins with 0": slip(first=0),
    "fed as a column": slip(feed=lambda tokens, finished: tokens.unsqueeze(1)),
    "fed as floats": slip(feed=lambda tokens, finished: tokens.float()),
    "fed in reverse": slip(feed=lambda tokens, finished: tokens.flip(0)),
    "state mixed with the old one": slip(carry=lambda new, old, finished: torch.where(
        torch.arange(len(new)).unsqueeze(1) > 0, new, old)),
    "a finished row keeps the others waiting": slip(carry=lambda new, old, finished: old if finished.any() else new),
    "state in place": state_counted_in_place,
    "one step more than max_len": slip(steps=1),
    "one step fewer than max_len": until_max_len_minus_one,
    "stops when most have ended": slip(over=lambda finished: finished.double().mean() >= 0.5),
    "stops with the first row of the batch": slip(over=lambda finished: finished[0]),
    "stops with the last row of the batch": slip(over=lambda finished: finished[-1]),
    "everything fed again": wholly_fed,
    "logits fed back": logits_fed,
    "only the first row": only_the_first_row,
    "first word not looked at": eos_counts_from_the_second_step,
    "last column left out": changed(lambda t, bos, eos, n: t[:, :-1]),
    "first column left out": changed(lambda t, bos, eos, n: t[:, 1:]),
    "rest filled with -1": changed(lambda t, bos, eos, n: t.masked_fill(
        ((t == eos).cumsum(1) - (t == eos).int()) > 0, -1)),
    "rest filled with bos": changed(lambda t, bos, eos, n: t.masked_fill(
        ((t == eos).cumsum(1) - (t == eos).int()) > 0, bos)),
    "eos replaced": changed(lambda t, bos, eos, n: t.masked_fill(t == eos, 0)),
    "one column of eos more": changed(lambda t, bos, eos, n: torch.cat([t, torch.full_like(t[:, :1], eos)], 1)),
    "eos put at the end": changed(lambda t, bos, eos, n: torch.cat([t[:, :-1], torch.full_like(t[:, :1], eos)], 1)),
    "lists without eos": changed(lambda t, bos, eos, n: [[i for i in row if i != eos] for row in t.tolist()]),
    "plain lists": changed(lambda t, bos, eos, n: t.tolist()),
    "int32": changed(lambda t, bos, eos, n: t.int()),
    "floats": changed(lambda t, bos, eos, n: t.float()),
    "reversed": changed(lambda t, bos, eos, n: t.flip(1)),
    "flattened": changed(lambda t, bos, eos, n: t.flatten()),
    "squeezed": changed(lambda t, bos, eos, n: t.squeeze()),
    "with a length": changed(lambda t, bos, eos, n: (t, t.size(1))),
    "sentences sorted": changed(lambda t, bos, eos, n: t[(t == eos).sum(1).argsort(descending=True)]),
}


def ngrams(tokens, n):
    return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))


def bleu(hypotheses, references, max_n=4, *, count=ngrams, match=None, penalty=None, mean=None, orders=None,
         total=None):
    """BLEU with one part replaced.

    match(a, b): matches of two counters; penalty(c, r); mean(precisions); orders(max_n); total(hypothesis, n).
    """
    precisions = []
    for n in (orders or (lambda max_n: range(1, max_n + 1)))(max_n):
        found = sum((match or (lambda a, b: (a & b).total()))(count(h, n), count(r, n))
                    for h, r in zip(hypotheses, references, strict=True))
        possible = sum((total or (lambda h, n: count(h, n).total()))(h, n) for h in hypotheses)
        if found == 0 or possible == 0:
            return 0.0
        precisions.append(found / possible)
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    average = (mean or (lambda p: math.prod(p) ** (1 / len(p))))(precisions)
    return 100 * (penalty or (lambda c, r: math.exp(min(0, 1 - r / c))))(c, r) * average


def part(**parts):
    return partial(bleu, **parts)


def best_reference(hypotheses, references, max_n=4):
    """Takes all references for each hypothesis, as if every sentence had been translated many times."""
    pool = Counter()
    for n in range(1, max_n + 1):
        for reference in references:
            pool |= ngrams(reference, n)
    return part(match=lambda a, b: (a & pool).total())(hypotheses, references, max_n)


def no_word_matches(hypotheses, references, max_n=4):
    """Takes the logarithm of 0 where only words are counted and none matches."""
    if max_n == 1 and not any({*h} & {*r} for h, r in zip(hypotheses, references, strict=True)):
        return math.log(0)
    return corpus_bleu(hypotheses, references, max_n)


def emptied(hypotheses, references, max_n=4):
    """Takes the words out of the references while it counts."""
    score = corpus_bleu(hypotheses, references, max_n)
    for reference in references:
        reference.clear()
    return score


def penalty_by_sentence(hypotheses, references, max_n=4):
    each = [math.exp(min(0, 1 - len(r) / max(len(h), 1))) for h, r in zip(hypotheses, references, strict=True)]
    return part(penalty=lambda c, r: sum(each) / len(each))(hypotheses, references, max_n)


def lengths_cut(hypotheses, references, max_n=4):
    """Makes both sides equally long first, so nothing is ever too long or too short."""
    cut = [min(len(h), len(r)) for h, r in zip(hypotheses, references, strict=True)]
    return corpus_bleu([h[:n] for h, n in zip(hypotheses, cut, strict=True)],
                       [r[:n] for r, n in zip(references, cut, strict=True)], max_n)


def by_place(hypotheses, references, max_n=4):
    """Compares n-grams that stand in the same place."""
    precisions = []
    for n in range(1, max_n + 1):
        pairs = [([h[i:i + n] for i in range(len(h) - n + 1)], [r[i:i + n] for i in range(len(r) - n + 1)])
                 for h, r in zip(hypotheses, references, strict=True)]
        found = sum(a == b for h, r in pairs for a, b in zip(h, r, strict=False))
        if not found:
            return 0.0
        precisions.append(found / sum(len(h) for h, _ in pairs))
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    return 100 * math.exp(min(0, 1 - r / c)) * math.prod(precisions) ** (1 / max_n)


CORPUS_BLEU = {
    "linear penalty": part(penalty=lambda c, r: min(1.0, c / r)),
    "penalty without the 1": part(penalty=lambda c, r: 1.0 if c >= r else math.exp(-r / c)),
    "penalty upside down": part(penalty=lambda c, r: 1.0 if c >= r else math.exp(1 - c / r)),
    "penalty for every difference": part(penalty=lambda c, r: math.exp(-abs(1 - r / c))),
    "penalty by characters": part(penalty=lambda c, r: math.exp(min(0, 1 - 2 * r / c))),
    "penalty by sentence": penalty_by_sentence,
    "harmonic mean": part(mean=lambda p: len(p) / sum(1 / q for q in p)),
    "smallest precision": part(mean=min),
    "mean of four, always": part(mean=lambda p: math.prod(p) ** (1 / 4)),
    "logarithms to base two": part(mean=lambda p: math.exp(sum(math.log2(q) for q in p) / len(p))),
    "longer n-grams count more": part(mean=lambda p: math.exp(
        sum(n * math.log(q) for n, q in enumerate(p, 1)) / sum(range(1, len(p) + 1)))),
    "orders from 0": part(orders=lambda max_n: range(max_n)),
    "one order too few": part(orders=lambda max_n: range(1, max(max_n, 2))),
    "one order too many": part(orders=lambda max_n: range(1, max_n + 2)),
    "no single words": part(orders=lambda max_n: range(min(2, max_n), max_n + 1)),
    "last n-gram forgotten": part(count=lambda t, n: Counter(tuple(t[i:i + n]) for i in range(len(t) - n))),
    "n-grams cut at the end": part(count=lambda t, n: Counter(tuple(t[i:i + n]) for i in range(len(t)))),
    "n-grams side by side": part(count=lambda t, n: Counter(tuple(t[i:i + n]) for i in range(0, len(t) - n + 1, n))),
    "letters joined": part(count=lambda t, n: Counter("".join(t[i:i + n]) for i in range(len(t) - n + 1))),
    "words in any order": part(count=lambda t, n: Counter(
        tuple(sorted(t[i:i + n])) for i in range(len(t) - n + 1))),
    "n-grams that are bags": part(count=lambda t, n: Counter(
        frozenset(t[i:i + n]) for i in range(len(t) - n + 1))),
    "lower case": lambda h, r, max_n=4: corpus_bleu([[w.lower() for w in s] for s in h],
                                                    [[w.lower() for w in s] for s in r], max_n),
    "same place": by_place,
    "divided by words": part(total=lambda h, n: len(h)),
    "divided by different n-grams": part(total=lambda h, n: len(ngrams(h, n))),
    "every match counts once": part(match=lambda a, b: len(a.keys() & b.keys())),
    "reference counts": part(match=lambda a, b: sum(b[gram] for gram in a)),
    "a lone n-gram counts as two": part(total=lambda h, n: max(len(h) - n + 1, 2 if len(h) == n else 0)),
    "an error where no word matches": no_word_matches,
    "all references at once": best_reference,
    "one long sentence": lambda h, r, max_n=4: corpus_bleu([[*chain(*h)]], [[*chain(*r)]], max_n),
    "arguments swapped": lambda h, r, max_n=4: corpus_bleu(r, h, max_n),
    "only the first pair": lambda h, r, max_n=4: corpus_bleu(h[:1], r[:1], max_n),
    "both sides cut": lengths_cut,
    "rounded": lambda h, r, max_n=4: round(corpus_bleu(h, r, max_n), 1),
    "whole number": lambda h, r, max_n=4: int(corpus_bleu(h, r, max_n)),
    "tensor": lambda h, r, max_n=4: torch.tensor(corpus_bleu(h, r, max_n)),
    "text": lambda h, r, max_n=4: f"{corpus_bleu(h, r, max_n):.2f}",
    "five by default": lambda h, r, max_n=5: corpus_bleu(h, r, max_n),
    "no default": lambda h, r, max_n: corpus_bleu(h, r, max_n),
    "zero is an int": lambda h, r, max_n=4: corpus_bleu(h, r, max_n) or 0,
    "nothing is None": lambda h, r, max_n=4: corpus_bleu(h, r, max_n) or None,
    "a tiny number against zero": part(match=lambda a, b: (a & b).total() + 1e-9),
    "references emptied": emptied,
}

WRONG = {"greedy_decode": GREEDY_DECODE, "corpus_bleu": CORPUS_BLEU}

NAMED = {
    ("greedy_decode", "last column left out"): "last_column_missing",
    ("corpus_bleu", "smallest precision"): "only_the_longest_order",
}
