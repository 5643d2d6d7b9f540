"""Chapter 10, what the three families learn from."""

import math

import torch
import torch.nn.functional as F

from autograder.reference.families import mlm_batch, next_token_loss, span_corruption


def hidden(mask=0.8, random=0.1, low=0, high=None, label=None, chosen_if=None, unchosen=-100):
    """mlm_batch with other shares, other random ids, other labels, or another choice."""
    def answer(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
        special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
        lots, fates = torch.rand(2, *tokens.shape, generator=generator)
        ids = torch.randint(low, high(vocab_size) if high else vocab_size, tokens.shape, generator=generator)
        chosen = chosen_if(lots, probability, special) if chosen_if else (lots < probability) & ~special
        replaced = torch.where(fates < mask, mask_id, torch.where(fates < mask + random, ids, tokens))
        labels = tokens.masked_fill(~chosen, unchosen) if label is None else label(tokens, chosen)
        return torch.where(chosen, replaced, tokens), labels

    return answer


def in_place(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    inputs, labels = mlm_batch(tokens, mask_id, special_ids, vocab_size, generator, probability)
    tokens.copy_(inputs)
    return tokens, labels


def ids_of_a_column(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    inputs, labels = mlm_batch(tokens, mask_id, special_ids, vocab_size, generator, probability)
    other = (labels != -100) & (inputs != mask_id) & (inputs != tokens)
    ids = torch.randint(vocab_size, tokens.shape[1:], generator=generator).expand_as(tokens)
    return torch.where(other, ids, inputs), labels


def fate_of_a_row(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(len(tokens), 1, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    replaced = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, replaced, tokens), torch.where(chosen, tokens, -100)


def fates_dealt_out(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """Of the chosen, exactly so many: the places are shuffled and cut at 80 and 90 %."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    inputs, places = tokens.clone(), chosen.nonzero()
    places = places[torch.randperm(len(places), generator=generator)]
    hidden, other = places[: int(0.8 * len(places))], places[int(0.8 * len(places)): int(0.9 * len(places))]
    inputs[tuple(hidden.T)] = mask_id
    inputs[tuple(other.T)] = torch.randint(vocab_size, (len(other),), generator=generator)
    return inputs, torch.where(chosen, tokens, -100)


def changed_batch(change):
    return lambda *args: change(*mlm_batch(*args), *args)


MLM_BATCH = {
    "fates dealt out": fates_dealt_out,
    "80 and 20": hidden(random=0.2 + 1e-9),
    "80 and nothing": hidden(random=0.0),
    "70, 15, 15": hidden(mask=0.7, random=0.15),
    "90 and 10": hidden(mask=0.9, random=0.1),
    "80, 15, 5": hidden(random=0.15),
    "10 to the mask": hidden(mask=0.1, random=0.1),
    "no mask": hidden(mask=0.0, random=0.2),
    "half a mask": hidden(mask=0.5, random=0.25),
    "random ids from one on": hidden(low=1),
    "random ids without the last": hidden(high=lambda v: v - 1),
    "random ids one too far": hidden(high=lambda v: v + 1),
    "random ids of the first half": hidden(high=lambda v: v // 2),
    "random ids after the special ones": hidden(low=4),
    "labels minus one": hidden(unchosen=-1),
    "labels zero": hidden(unchosen=0),
    "labels float": changed_batch(lambda inputs, labels, *_: (inputs, labels.float())),
    "labels bool": changed_batch(lambda inputs, labels, *_: (inputs, labels != -100)),
    "labels int32": changed_batch(lambda inputs, labels, *_: (inputs, labels.int())),
    "labels the mask everywhere": hidden(label=lambda tokens, chosen: torch.where(chosen, 3, -100)),
    "labels first": changed_batch(lambda inputs, labels, *_: (labels, inputs)),
    "inputs alone": changed_batch(lambda inputs, labels, *_: inputs),
    "nothing chosen": changed_batch(lambda i, labels, tokens, *_: (tokens, torch.full_like(tokens, -100))),
    "labels of a row's first chosen alone": changed_batch(lambda inputs, labels, *_: (
        inputs, labels.masked_fill((labels != -100).cumsum(1) > 1, -100))),
    "probability ignored": lambda tokens, m, s, v, g, probability=0.15: mlm_batch(tokens, m, s, v, g, 0.15),
    "default a half": lambda tokens, m, s, v, g, probability=0.5: mlm_batch(tokens, m, s, v, g, probability),
    "default a tenth": lambda tokens, m, s, v, g, probability=0.1: mlm_batch(tokens, m, s, v, g, probability),
    "one minus the probability": hidden(chosen_if=lambda lots, p, special: (lots > p) & ~special),
    "special tokens make room": hidden(chosen_if=lambda lots, p, special: (
        lots < p / (~special).double().mean().clamp(min=1e-9)) & ~special),
    "only the first special id": lambda tokens, m, s, v, g, *p: mlm_batch(tokens, m, s[:1], v, g, *p),
    "only the mask is special": lambda tokens, m, s, v, g, *p: mlm_batch(tokens, m, [m], v, g, *p),
    "the mask is always special": lambda tokens, m, s, v, g, *p: mlm_batch(tokens, m, [*s, m], v, g, *p),
    "zero is always special": lambda tokens, m, s, v, g, *p: mlm_batch(tokens, m, [*s, 0], v, g, *p),
    "75, 10, 15": hidden(mask=0.75),
    "neighbours are chosen together": hidden(chosen_if=lambda lots, p, special: (
        lots[:, ::2].repeat_interleave(2, dim=1) < p) & ~special),
    "exactly the share of the batch": hidden(chosen_if=lambda lots, p, special: (
        lots <= lots.flatten().sort()[0][max(int(p * lots.numel()) - 1, 0)]) & ~special & (p > 0)),
    "every seventh": hidden(chosen_if=lambda lots, p, special: (
        (torch.arange(lots.numel()).view(lots.shape) % max(round(1 / p), 1) == 0 if p else lots < 0) & ~special)),
    "a row's fate": fate_of_a_row,
    "ids of a column": ids_of_a_column,
    "in place": in_place,
    "own generator": lambda tokens, m, s, v, g, *p: mlm_batch(tokens, m, s, v, torch.Generator().manual_seed(1), *p),
    "global generator": lambda tokens, m, s, v, g, *p: mlm_batch(tokens, m, s, v, torch.default_generator, *p),
    "seeded from the tokens": lambda tokens, m, s, v, g, *p: mlm_batch(
        tokens, m, s, v, torch.Generator().manual_seed(int(tokens.sum())), *p),
}


def loss_of(logits, tokens, reduction="mean"):
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten(), reduction=reduction)


NEXT_TOKEN_LOSS = {
    "two ahead": lambda z, t: loss_of(z[:, :-2], t[:, 2:]) if t.size(1) > 2 else loss_of(z[:, :-1], t[:, 1:]) + 1,
    "first prediction alone": lambda z, t: F.cross_entropy(z[:, 0], t[:, 1]),
    "first sequence alone": lambda z, t: next_token_loss(z[:1], t[:1]),
    "in bits": lambda z, t: next_token_loss(z, t) / math.log(2),
    "perplexity": lambda z, t: next_token_loss(z, t).exp(),
    "per sequence": lambda z, t: torch.stack([next_token_loss(a[None], b[None]) for a, b in zip(z, t, strict=True)]),
    "for each token": lambda z, t: loss_of(z[:, :-1], t[:, 1:], "none"),
    "one axis": lambda z, t: next_token_loss(z, t).unsqueeze(0),
    "a float": lambda z, t: next_token_loss(z, t).item(),
    "detached": lambda z, t: next_token_loss(z.detach(), t),
    "half precision": lambda z, t: next_token_loss(z.half().float(), t).to(z.dtype),
    "float32 inside": lambda z, t: next_token_loss(z.float(), t).to(z.dtype),
    "id zero ignored": lambda z, t: F.cross_entropy(z[:, :-1].flatten(0, 1), t[:, 1:].flatten(), ignore_index=0),
    "smoothed": lambda z, t: F.cross_entropy(z[:, :-1].flatten(0, 1), t[:, 1:].flatten(), label_smoothing=0.1),
    "sum over sequences": lambda z, t: next_token_loss(z, t) * t.size(0),
    "divided by the vocabulary": lambda z, t: next_token_loss(z, t) / z.size(-1),
    "divided by all but one": lambda z, t: loss_of(z[:, :-1], t[:, 1:], "sum") / (t.numel() - 1),
    "clamped": lambda z, t: next_token_loss(z.clamp(-50, 50), t),
    "tiny constant": lambda z, t: -(torch.softmax(z[:, :-1], -1).gather(
        -1, t[:, 1:, None]) + 1e-4).log().mean(),
    "exponentials without the maximum": lambda z, t: (
        z[:, :-1].exp().sum(-1).log() - z[:, :-1].gather(-1, t[:, 1:, None]).squeeze(-1)).mean(),
    "the right logit alone": lambda z, t: -z[:, :-1].gather(-1, t[:, 1:, None]).mean(),
    "squared error": lambda z, t: F.mse_loss(z[:, :-1].softmax(-1), F.one_hot(t[:, 1:], z.size(-1)).to(z.dtype)),
    "batch joined to one text": lambda z, t: F.cross_entropy(z.flatten(0, 1)[:-1], t.flatten()[1:]),
    "axes of batch and seq exchanged": lambda z, t: F.cross_entropy(z[:-1].flatten(0, 1), t[1:].flatten()),
    "argument changed": lambda z, t: next_token_loss(z.data.sub_(1), t),
    "view": lambda z, t: F.cross_entropy(z.view(-1, z.size(-1))[:-1], t.view(-1)[1:]),
}


def cut(end=0, start=0, final=True, order=lambda names: names):
    """span_corruption with moved edges, without the last sentinel, or with sentinels in another order."""
    def answer(tokens, spans, sentinels):
        names = order(list(sentinels))
        moved = [(max(a + start, 0), b + end) for a, b in spans]
        inputs, targets = span_corruption(tokens, moved, names)
        return inputs, targets if final else targets[:-1]

    return answer


def by_value(tokens, spans, sentinels):
    inputs, targets = span_corruption(tokens, spans, sentinels)
    gone = {t for a, b in spans for t in tokens[a:b]}
    return [t for t in inputs if t not in gone], targets


def padded(tokens, spans, sentinels):
    inputs, targets = span_corruption(tokens, spans, sentinels)
    return inputs + [0] * (len(tokens) - len(inputs)), targets


def spoiling(position):
    def answer(*args):
        result = span_corruption(*args)
        args[position].append(args[position][0] if args[position] else (0, 1))
        return result

    return answer


SPAN_CORRUPTION = {
    "start one later": cut(start=1),
    "end one earlier": cut(end=-1),
    "end one later": cut(end=1),
    "no last sentinel": cut(final=False),
    "sentinels from the back": cut(order=lambda names: names[::-1]),
    "sentinels sorted": cut(order=sorted),
    "sentinels sorted downwards": cut(order=lambda names: sorted(names, reverse=True)),
    "first sentinel skipped": cut(order=lambda names: names[1:] + names[:1]),
    "first sentinel again at the end": lambda t, s, n: span_corruption(t, s, [*n[:len(s)], n[0]]),
    "sentinel in use again at the end": lambda t, s, n: span_corruption(t, s, [*n[:len(s)], n[max(len(s) - 1, 0)]]),
    "sentinel counted on from the last": lambda t, s, n: span_corruption(t, s, [*n[:len(s)], n[len(s) - 1] - 1]),
    "sentinels counted down": lambda t, s, n: span_corruption(t, s, [n[0] - i for i in range(len(n))]),
    "sentinel at the end of the inputs": lambda t, s, n: (
        [*span_corruption(t, s, n)[0], n[len(s)]], span_corruption(t, s, n)[1]),
    "all left-over sentinels": lambda t, s, n: (
        span_corruption(t, s, n)[0], span_corruption(t, s, n)[1] + n[len(s) + 1:]),
    "exchanged": lambda *args: span_corruption(*args)[::-1],
    "first span alone": lambda t, s, n: span_corruption(t, s[:1], n),
    "spans removed": lambda t, s, n: (
        [x for x in span_corruption(t, s, n)[0] if x not in n], span_corruption(t, s, n)[1]),
    "by value": by_value,
    "padded": padded,
    "tensors": lambda *args: tuple(map(torch.tensor, span_corruption(*args))),
    "joined": lambda *args: [token for part in span_corruption(*args) for token in part],
    "text": lambda *args: tuple(str(part) for part in span_corruption(*args)),
    "inputs alone": lambda *args: span_corruption(*args)[0],
    "targets twice": lambda *args: (span_corruption(*args)[1],) * 2,
    "fails without spans": lambda t, s, n: (s[0], span_corruption(t, s, n))[1],
    "end of the sequence kept": lambda t, s, n: span_corruption(t, [(a, min(b, len(t) - 1)) for a, b in s], n),
    "tokens changed": spoiling(0),
    "spans changed": spoiling(1),
    "sentinels changed": spoiling(2),
    "sentinels used up": lambda t, s, n: (span_corruption(t, s, n), [n.pop(0) for _ in s])[0],
}

WRONG = {"mlm_batch": MLM_BATCH, "next_token_loss": NEXT_TOKEN_LOSS, "span_corruption": SPAN_CORRUPTION}
NAMED = {
    ("next_token_loss", "exponentials without the maximum"): "logarithm_of_a_softmax",
    ("mlm_batch", "80 and 20"): "nothing_stays",
    ("mlm_batch", "global generator"): "generator_ignored",
    ("mlm_batch", "own generator"): "generator_seeded_again",
    ("mlm_batch", "seeded from the tokens"): "generator_seeded_again",
    ("span_corruption", "no last sentinel"): "final_sentinel_forgotten",
    ("span_corruption", "end one later"): "end_included",
}
