"""Chapter 08, how a Transformer is asked: mistakes with beam search.

Most of them search sentence by sentence, and the steps that go wrong are arguments of `_search`; the last three search
with all beams in one batch, `_search_at_once`, where what belongs to a beam has to move with it.
"""

import torch

from autograder.exercises.transformer import CHAPTER
from autograder.exercises.transformer_training import beam_search


def _search(model, state, bos, eos, beam_size, max_len, score, *, log_p=torch.log_softmax, own_state=True,
            stop_early=False, ended=lambda words, eos: words[-1:] == [eos],
            kept=lambda candidates, beam_size: candidates[:beam_size]):
    """The best words of every row as lists. A beam is (sum, words, state)."""
    rows = []
    for row in range(len(state)):
        beams = [(0.0, [], state[row:row + 1])]
        for _ in range(max_len):
            candidates = []
            for total, words, now in beams:
                if ended(words, eos):
                    candidates.append((total, words, now))
                    continue
                logits, after = model.step(torch.tensor(words[-1:] or [bos]), now)
                gains = log_p(logits[0], dim=-1).tolist()
                candidates += [(total + gain, [*words, word], after) for word, gain in enumerate(gains)]
            beams = kept(sorted(candidates, key=lambda beam: -beam[0]), beam_size)
            if stop_early and ended(beams[0][1], eos):
                break
            if not own_state:  # what the first beam has left behind
                beams = [(total, words, candidates[0][2]) for total, words, _ in beams]
        rows.append(max(beams, key=lambda beam: score(beam[0], beam[1], eos))[1])
    return rows


def _filled(rows, eos):
    """Up to each row's first eos, and eos behind it: (rows, width of the longest)."""
    rows = [row[:row.index(eos) + 1] if eos in row else row for row in rows]
    width = max(len(row) for row in rows)
    return torch.tensor([row + [eos] * (width - len(row)) for row in rows])


def _divided(length_penalty):
    return lambda total, words, eos: total / len(words) ** length_penalty


def _first(candidates, beam_size):
    return candidates[:1]


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def one_beam_only(model, state, bos, eos, beam_size, max_len, length_penalty):
    """One beginning goes on: you keep one beam, or all beams of a row start with the sum 0 and are the same beam."""
    rows = _search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty), kept=_first)
    return _filled(rows, eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def too_many_beams(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You carry on more beginnings than beam_size; after each step the beam_size with the largest sums are kept."""
    def kept(candidates, beam_size):
        return candidates[:beam_size + (beam_size > 1)]

    return _filled(_search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty), kept=kept), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def pruned_by_the_score(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You divide by the length when you choose the beams too; there the sums count, and the score at the end alone."""
    def kept(candidates, beam_size):
        candidates.sort(key=lambda beam: -beam[0] / len(beam[1]) ** length_penalty)
        return candidates[:beam_size]

    return _filled(_search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty), kept=kept), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def one_state_for_all_beams(model, state, bos, eos, beam_size, max_len, length_penalty):
    """Your beams share one state; a state goes with the beginning that it was made by."""
    rows = _search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty), own_state=False)
    return _filled(rows, eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def first_state_every_step(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You start every step from the first state, so the model does not know how far it has come."""
    class Forgetful:
        def step(self, tokens, now):
            return model.step(tokens, now)[0], now

    return _filled(_search(Forgetful(), state, bos, eos, beam_size, max_len, _divided(length_penalty)), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def bos_fed_to_every_beam(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You feed bos in every step; each beam is fed the word that it said last."""
    class Deaf:
        def step(self, tokens, now):
            return model.step(torch.full_like(tokens, bos), now)

    return _filled(_search(Deaf(), state, bos, eos, beam_size, max_len, _divided(length_penalty)), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def finished_beams_go_on(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You extend beams that have said eos, and pay for what comes after it; a finished beam stays as it is."""
    rows = _search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty),
                   ended=lambda words, eos: False)
    return _filled(rows, eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def first_row_for_all(model, state, bos, eos, beam_size, max_len, length_penalty):
    """All rows get the words of the first; each row has beams of its own."""
    rows = _search(model, state[:1], bos, eos, beam_size, max_len, _divided(length_penalty))
    return _filled(rows * len(state), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def length_penalty_unused(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You compare the sums as they are; they are divided by length ** length_penalty first."""
    return _filled(_search(model, state, bos, eos, beam_size, max_len, _divided(0.0)), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def multiplied_by_the_length(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You multiply the sum by the length's power; dividing is what helps a longer sentence."""
    rows = _search(model, state, bos, eos, beam_size, max_len, _divided(-length_penalty))
    return _filled(rows, eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def eos_not_counted(model, state, bos, eos, beam_size, max_len, length_penalty):
    """Your length leaves eos out; it counts like any other word."""
    def score(total, words, eos):
        return total / max(len([word for word in words if word != eos]), 1) ** length_penalty

    return _filled(_search(model, state, bos, eos, beam_size, max_len, score), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def bos_counted(model, state, bos, eos, beam_size, max_len, length_penalty):
    """Your length counts bos; it counts the words that were said, eos among them."""
    def score(total, words, eos):
        return total / (len(words) + 1) ** length_penalty

    return _filled(_search(model, state, bos, eos, beam_size, max_len, score), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def logits_added_up(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You add logits; only log-probabilities can be compared from one step to the next."""
    rows = _search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty),
                   log_p=lambda logits, dim: logits)
    return _filled(rows, eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def probabilities_added_up(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You add probabilities; the probability of a sentence is a product, so their logarithms are added."""
    rows = _search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty), log_p=torch.softmax)
    return _filled(rows, eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def unfinished_beams_thrown_away(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You let finished beams win in any case; one that is not finished at max_len competes with them."""
    def score(total, words, eos):
        return total / len(words) ** length_penalty - (0.0 if eos in words else 1e6)

    return _filled(_search(model, state, bos, eos, beam_size, max_len, score), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def bos_in_the_result(model, state, bos, eos, beam_size, max_len, length_penalty):
    """Your result still begins with bos, which was fed and not said."""
    tokens = _filled(_search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty)), eos)
    return torch.cat([torch.full_like(tokens[:, :1], bos), tokens], dim=1)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def rest_of_the_row_zero(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You fill the rows that have ended with 0, which is a word like any other here; fill with eos."""
    tokens = _filled(_search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty)), eos)
    ends = (tokens == eos).int()
    return tokens.masked_fill(ends.cumsum(dim=1) - ends > 0, 0)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def sentence_of_length_zero(model, state, bos, eos, beam_size, max_len, length_penalty):
    """Your length leaves eos out, so a row that is eos alone is divided by 0; eos counts like any other word."""
    def score(total, words, eos):
        length = len([word for word in words if word != eos])
        return total / length**length_penalty if length else float("-inf") if length_penalty else total

    return _filled(_search(model, state, bos, eos, beam_size, max_len, score), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beam-score")
def length_penalty_of_wu(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You divide by ((5 + length) / 6) ** length_penalty, as Wu et al. do; here it is length ** length_penalty."""
    def score(total, words, eos):
        return total / ((5 + len(words)) / 6) ** length_penalty

    return _filled(_search(model, state, bos, eos, beam_size, max_len, score), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def stopped_at_the_first_end(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You stop when the best beam has said eos; others go on, and may win when the lengths are weighed."""
    rows = _search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty), stop_early=True)
    return _filled(rows, eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def more_beams_than_words(model, state, bos, eos, beam_size, max_len, length_penalty):
    """You take beam_size words of each beam, and the vocabulary may be smaller: `min(beam_size, vocab)`."""
    def log_p(logits, dim):
        gains = torch.log_softmax(logits, dim)
        gains.topk(beam_size)  # raises where there are fewer words
        return gains

    return _filled(_search(model, state, bos, eos, beam_size, max_len, _divided(length_penalty), log_p=log_p), eos)


def _search_at_once(model, state, bos, eos, beam_size, max_len, length_penalty, *, left=""):
    """Beam b of row r is entry r * beam_size + b. What is `left` in place does not go with the chosen beams."""
    rows, state = len(state), state.repeat_interleave(beam_size, dim=0)
    said, tokens = torch.empty(rows, beam_size, 0, dtype=torch.int64), torch.full((rows * beam_size,), bos)
    ended = torch.zeros(rows, beam_size, dtype=torch.bool)
    total = torch.full((rows, beam_size), -torch.inf)
    total[:, 0] = 0.0
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        log_p = torch.log_softmax(logits, dim=-1).view(rows, beam_size, -1).masked_fill(ended.unsqueeze(-1), -torch.inf)
        log_p[..., eos].masked_fill_(ended, 0.0)
        total, place = (total.unsqueeze(-1) + log_p).flatten(1).topk(beam_size, dim=1)
        parent, word = place // log_p.size(-1), place % log_p.size(-1)
        here = torch.arange(beam_size).expand_as(parent)
        of_state, of_words, of_ends = (here if left == what else parent for what in ("state", "words", "ends"))
        state = state[(torch.arange(rows).unsqueeze(1) * beam_size + of_state).flatten()]
        said = torch.cat([said.take_along_dim(of_words.unsqueeze(-1), dim=1), word.unsqueeze(-1)], dim=-1)
        ended, tokens = ended.take_along_dim(of_ends, dim=1) | (word == eos), word.flatten()
        if ended.all():
            break
    length = (said != eos).sum(dim=-1) + ended
    best = (total / length**length_penalty).argmax(dim=1)
    return _filled(said[torch.arange(rows), best].tolist(), eos)


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def states_left_in_place(model, state, bos, eos, beam_size, max_len, length_penalty):
    """After pruning your states stay where they were, and the beams have moved: take each beam's from its parent."""
    return _search_at_once(model, state, bos, eos, beam_size, max_len, length_penalty, left="state")


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def words_left_in_place(model, state, bos, eos, beam_size, max_len, length_penalty):
    """After pruning the words said so far stay where they were, and the beams have moved: take those of the parent."""
    return _search_at_once(model, state, bos, eos, beam_size, max_len, length_penalty, left="words")


@beam_search.misconception(see=f"{CHAPTER}#mistake-beams")
def ends_left_in_place(model, state, bos, eos, beam_size, max_len, length_penalty):
    """After pruning you keep in place which beams have ended, and the beams have moved: ask each beam's parent."""
    return _search_at_once(model, state, bos, eos, beam_size, max_len, length_penalty, left="ends")
