"""Chapter 08: beam_search. Most slips are the reference with other arguments, or with its result changed."""

import torch

from autograder.reference.bottleneck import greedy_decode
from autograder.reference.training import beam_search as right


def around(change):
    """The right result, through `change(tokens, eos, max_len)`."""
    return lambda model, state, bos, eos, beam_size, max_len, penalty: change(
        right(model, state, bos, eos, beam_size, max_len, penalty), eos, max_len)


def through(step):
    """The right search through a model whose step is `step(model, tokens, state)`."""
    def search(model, state, *rest):
        class Model:
            def step(self, tokens, now):
                return step(model, tokens, now)

        return right(Model(), state, *rest)

    return search


def scaled(factor):
    def step(model, tokens, now):
        logits, after = model.step(tokens, now)
        return factor * logits, after

    return through(step)


def sized(change):
    """The right search with another number of beams, where there are a few."""
    return lambda model, state, bos, eos, size, *rest: right(
        model, state, bos, eos, change(size) if 1 < size < 10 else size, *rest)


def eos_earlier(model, tokens, now):
    logits, after = model.step(tokens, now)
    logits = logits.clone()
    logits[:, -1] += 1.0
    return logits, after


def without_bos(model, state, bos, eos, beam_size, max_len, penalty):
    """Begins with eos, as some models do."""
    return right(model, state, eos, eos, beam_size, max_len, penalty)


def mixed_rows(model, state, bos, eos, beam_size, max_len, penalty):
    """The beams of all rows lie in another order than the states."""
    class Model:
        def step(self, tokens, now):
            logits, after = model.step(tokens, now)
            return logits.roll(beam_size, dims=0), after

    return right(Model(), state, bos, eos, beam_size, max_len, penalty)


def in_place(model, state, bos, eos, beam_size, max_len, penalty):
    tokens = right(model, state.clone(), bos, eos, beam_size, max_len, penalty)
    state.add_(1)
    return tokens


def greedy(model, state, bos, eos, beam_size, max_len, penalty):
    return greedy_decode(model, state, bos, eos, max_len)


def sampled(model, state, bos, eos, beam_size, max_len, penalty):
    tokens, said = torch.full((len(state),), bos), []
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        tokens = torch.multinomial(torch.softmax(logits, -1), 1).squeeze(-1)
        said.append(tokens)
    return torch.stack(said, 1)


def copies_of_one_beam(model, state, bos, eos, beam_size, max_len, penalty):
    """All beams of a row start with the sum 0, so each of them is found beam_size times."""
    rows = len(state)
    state, tokens = state.repeat_interleave(beam_size, 0), torch.full((rows * beam_size,), bos)
    total, said = torch.zeros(rows, beam_size), torch.empty(rows, beam_size, 0, dtype=torch.int64)
    ended = torch.zeros(rows, beam_size, dtype=torch.bool)
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        log_p = torch.log_softmax(logits, -1).view(rows, beam_size, -1)
        log_p = log_p.masked_fill(ended.unsqueeze(-1), -torch.inf)
        log_p[..., eos].masked_fill_(ended, 0.0)
        total, place = (total.unsqueeze(-1) + log_p).flatten(1).topk(beam_size, 1)
        parent, word = place // log_p.size(-1), place % log_p.size(-1)
        said = torch.cat([said.take_along_dim(parent.unsqueeze(-1), 1), word.unsqueeze(-1)], -1)
        ended = ended.take_along_dim(parent, 1) | (word == eos)
        state = state[(torch.arange(rows).unsqueeze(1) * beam_size + parent).flatten()]
        tokens = word.flatten()
    return said[torch.arange(rows), (total / max_len**penalty).argmax(1)]


def at_once(*moved):
    """All beams in one batch; of (state, words, flags) those that are `moved` go with the chosen beams."""
    @torch.no_grad()
    def search(model, state, bos, eos, k, max_len, penalty):
        n = state.size(0)
        offsets = k * torch.arange(n)[:, None]
        state = state[:, None].expand(n, k, *state.shape[1:]).flatten(0, 1)
        words, flags = torch.full((n * k, 1), bos), torch.zeros(n * k, dtype=torch.bool)
        sums = torch.tensor([0.0] + [-1e9] * (k - 1)).repeat(n)
        for _ in range(max_len):
            logits, state = model.step(words[:, -1], state)
            gains = logits.log_softmax(-1)
            only_eos = torch.full_like(gains[0], -float("inf"))
            only_eos[eos] = 0.0
            gains = torch.where(flags[:, None], only_eos, gains)
            sums, index = (sums[:, None] + gains).reshape(n, -1).topk(k, -1)
            sums, parents, new = sums.flatten(), (offsets + index // gains.size(1)).flatten(), index % gains.size(1)
            state = state[parents] if "state" in moved else state
            flags = flags[parents] if "flags" in moved else flags
            words = torch.cat([words[parents] if "words" in moved else words, new.reshape(-1, 1)], 1)
            flags = flags | (words[:, -1] == eos)
            if flags.all():
                break
        said = words[:, 1:]
        scores = sums / ((said != eos).sum(1) + flags) ** penalty
        return said[offsets.squeeze(1) + scores.view(n, k).argmax(1)]

    return search


BEAM_SEARCH = {
    "states not moved": at_once("words", "flags"),
    "words not moved": at_once("state", "flags"),
    "flags not moved": at_once("state", "words"),
    "greedy": greedy,
    "sampled": sampled,
    "a beam size of one": lambda model, state, bos, eos, size, *rest: right(model, state, bos, eos, 1, *rest),
    "half of the beams": sized(lambda size: (size + 1) // 2),
    "one beam too few": sized(lambda size: size - 1),
    "one beam too many": sized(lambda size: size + 1),
    "all beams": sized(lambda size: 1_000),
    "two beams at most": lambda model, state, bos, eos, size, *rest: right(model, state, bos, eos, min(size, 2), *rest),
    "penalty of one always": lambda *args: right(*args[:-1], 1.0),
    "one word too few": lambda model, state, bos, eos, size, length, penalty: right(
        model, state, bos, eos, size, max(length - 1, 1), penalty),
    "one word too many": lambda model, state, bos, eos, size, length, penalty: right(
        model, state, bos, eos, size, length + 1, penalty),
    "begins with eos": without_bos,
    "logits halved": scaled(0.5),
    "logits turned around": scaled(-1.0),
    "eos too likely": through(eos_earlier),
    "rows mixed": mixed_rows,
    "copies of one beam": copies_of_one_beam,
    "turned": around(lambda tokens, eos, length: tokens.T),
    "first word missing": around(lambda tokens, eos, length: torch.cat(
        [tokens[:, 1:], torch.full_like(tokens[:, :1], eos)], 1)),
    "eos cut off": around(lambda tokens, eos, length: tokens.masked_fill(tokens == eos, 0)),
    "filled beyond max_len": around(lambda tokens, eos, length: torch.cat(
        [tokens, torch.full((len(tokens), length), eos)], 1)),
    "a list": around(lambda tokens, eos, length: tokens.tolist()),
    "int32": around(lambda tokens, eos, length: tokens.int()),
    "floats": around(lambda tokens, eos, length: tokens.float()),
    "only the first row": around(lambda tokens, eos, length: tokens[:1]),
    "an axis of beams": around(lambda tokens, eos, length: tokens.unsqueeze(1)),
    "with the scores": around(lambda tokens, eos, length: (tokens, torch.zeros(len(tokens)))),
    "backwards": around(lambda tokens, eos, length: tokens.flip(1)),
    "in place": in_place,
}

WRONG = {"beam_search": BEAM_SEARCH}

NAMED = {
    ("beam_search", "states not moved"): "states_left_in_place",
    ("beam_search", "words not moved"): "words_left_in_place",
    ("beam_search", "flags not moved"): "ends_left_in_place",
    ("beam_search", "greedy"): "one_beam_only",
    ("beam_search", "a beam size of one"): "one_beam_only",
    ("beam_search", "copies of one beam"): "one_beam_only",
    ("beam_search", "all beams"): "too_many_beams",
    ("beam_search", "one beam too many"): "too_many_beams",
}
