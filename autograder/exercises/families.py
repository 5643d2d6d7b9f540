"""Chapter 10: what the three families learn from. How a decoder speaks is in families_decoding.py, and how a random
batch is judged in families_shares.py. Contract of each exercise: see its reference.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from autograder.exercises.families_shares import (
    beside,
    equal_beside,
    margin,
    same_shares,
    scatter,
    scatter_is_near,
    share_of,
)
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import ONES, SMALL, Inputs
from autograder.judging.standard import STANDARD, add_standard_criteria
from autograder.judging.trial import Trial
from autograder.learner.calls import Call, Seed
from autograder.reference import families

CHAPTER = "10_families"

# --- mlm_batch -------------------------------------------------------------------------------------------------

ROWS, LENGTH, VOCAB = 200, 100, 19
MASK, SPECIAL, ANY_SPECIAL = 3, (0, 1, 3), ()
FREE = 7  # a token that is not special


def _mlm_call(given: Inputs, *probability: float, tokens: Tensor | None = None, special: Sequence[int] = SPECIAL,
              rows: int = ROWS) -> Call:
    """Tokens of every kind unless told otherwise; without a probability, the default is asked for."""
    tokens = given.laid_out(given.whole_numbers(0, VOCAB - 1, rows, LENGTH)) if tokens is None else tokens
    return Call((tokens, MASK, list(special), VOCAB, Seed(given.whole_number(0, 2**31)), *probability))


def _constant(given: Inputs, *probability: float, rows: int = ROWS) -> Call:
    """One word repeated: what became of a chosen one can be told from the result."""
    return _mlm_call(given, *probability, tokens=torch.full((rows, LENGTH), FREE))


mlm_batch = Exercise(
    "mlm_batch", CHAPTER, families.mlm_batch, _mlm_call, returns=("inputs", "labels"), agreement=same_shares,
    named_whole=True,
    hints=("Three questions, each with random numbers of its own: who is chosen, what becomes of it, and which id it "
           "gets if that is a random one.",
           "`torch.rand(tokens.shape, generator=generator) < probability` chooses; `torch.isin(tokens, "
           "torch.tensor(special_ids, dtype=tokens.dtype))` tells who may not be.",
           "Draw once more for the fate of the chosen: below 0.8 the mask, from 0.8 to 0.9 a random id, above it "
           "nothing happens.",
           "`torch.randint(vocab_size, tokens.shape, generator=generator)` are the random ids, and "
           "`torch.where(condition, this, that)` picks. Labels: the tokens where chosen, -100 elsewhere."))


def _must_be_near(trial: Trial, found: tuple[float, int], right: float, what: str) -> None:
    share, count = found
    trial.require(abs(share - right) < margin(right, count),
                  f"The share of {what} is too far from what is asked for.",
                  f"Yours is {share:.3f}, right is {right:.3f}.")


def _must_be_independent(trial: Trial, event: Tensor, right: float, what: str) -> None:
    """The event happens to every token with this probability, whatever happens in its row and in its column."""
    everywhere = torch.ones_like(event)
    for dim, name in ((1, "sequences"), (0, "positions")):
        found = scatter(event, everywhere, dim)
        trial.require(scatter_is_near(found, 1.0, event.size(1 - dim)),
                      f"The {name} differ too {'little' if found < 1 else 'much'} in how many of their tokens {what}: "
                      "does each token have a random number of its own?")
        _must_be_near(trial, beside(event, everywhere, dim), right, f"tokens that {what}, next to one that does,")


@mlm_batch.criterion(points=1)
def labels_hold_what_was_chosen(trial: Trial) -> None:
    """A label is the original token or -100, and where it is -100 the input is the original token."""
    for call in (_mlm_call(trial.inputs()), _mlm_call(trial.inputs("strided", strided=True), rows=20)):
        tokens = call.args[0]
        inputs, labels = trial.well_formed(call).output
        chosen = labels != families.IGNORED
        trial.require(bool(chosen.any()) and not bool(chosen.all()),
                      "Some tokens should have a label and some should not; with yours it is all or none.")
        trial.require(bool((labels == tokens)[chosen].all()), "A label that is not -100 is not the original token.")
        trial.require(bool((inputs == tokens)[~chosen].all()), "An input was changed where the label is -100.")
        trial.require(not bool((inputs == tokens)[chosen].all()), "Nothing is hidden: your inputs are the tokens.")


@mlm_batch.criterion(points=1)
def special_tokens_stay(trial: Trial) -> None:
    """A special token is never chosen, whichever ids are special, one, several or none."""
    for special in (SPECIAL, (FREE,), ANY_SPECIAL):
        call = _mlm_call(trial.inputs(f"{special}"), 0.5, special=special)
        tokens = call.args[0]
        inputs, labels = trial.well_formed(call).output
        is_special = torch.isin(tokens, torch.tensor(special, dtype=torch.int64))
        chosen = labels != families.IGNORED
        trial.require(not bool(chosen[is_special].any()), "A special token was chosen.")
        trial.require(bool((inputs == tokens)[is_special].all()), "A special token was changed.")
        _must_be_near(trial, share_of(chosen, ~is_special), 0.5,
                      "tokens that are chosen among those that are not special, for a probability of 0.5,")
        for i in set(range(VOCAB)) - set(special):  # one id that is never chosen hardly shows in the share of all
            _must_be_near(trial, share_of(chosen, tokens == i), 0.5,
                          "tokens that are chosen among those with one id, for a probability of 0.5,")


@mlm_batch.criterion(points=1)
def chosen_with_the_probability(trial: Trial) -> None:
    """Each token that is not special is chosen with the probability, 0.15 unless told otherwise, for itself."""
    counts = []
    for probability in ((), (0.5,), (0.25,)):
        right = probability[0] if probability else 0.15
        chosen = trial.well_formed(_constant(trial.inputs(f"{right}"), *probability)).output[1] != families.IGNORED
        counts.append(int(chosen.sum()) == right * chosen.numel())
        _must_be_near(trial, share_of(chosen, torch.ones_like(chosen)), right,
                      f"tokens that are chosen, for a probability of {right},")
        _must_be_independent(trial, chosen, right, "are chosen")
    trial.require(not all(counts), "The number of chosen tokens is always exactly the same; choose each for itself.")
    for right, what in ((0.0, "none"), (1.0, "all")):
        chosen = trial.well_formed(_constant(trial.inputs(what), right, rows=1)).output[1] != families.IGNORED
        trial.require(bool((chosen == bool(right)).all()), f"With a probability of {right:g}, not {what} are chosen.")


def _fates(trial: Trial, call: Call) -> Tensor:
    """Where a chosen token becomes mask_id, after all three shares were found near what they should be."""
    tokens, mask_id, _, vocab = call.args[:4]
    inputs, labels = trial.well_formed(call).output
    chosen, masked, stays = labels != families.IGNORED, inputs == mask_id, inputs == tokens
    trial.require(bool(chosen.any()), "No token is chosen.")
    for kind, event, right in (("become mask_id (80 %, and by chance as a random id)", masked, 0.8 + 0.1 / vocab),
                               ("stay (10 %, and by chance as a random id)", stays, 0.1 + 0.1 / vocab),
                               ("become another id", ~masked & ~stays, 0.1 - 0.2 / vocab)):
        _must_be_near(trial, share_of(event, chosen), right, f"chosen tokens that {kind}")
    return masked


def _exactly_divided(trial: Trial, label: str) -> bool:
    """Whether 80 and 10 % of the chosen are met to a token, where so many ids are possible that chance adds none."""
    seed = Seed(trial.inputs(label).whole_number(0, 2**31))
    tokens = torch.full((ROWS, LENGTH), FREE)
    inputs, labels = trial.well_formed(Call((tokens, MASK, [], 10**6, seed, 1.0))).output
    chosen = labels != families.IGNORED
    return all(abs(int((event & chosen).sum()) - right * int(chosen.sum())) <= 1
               for event, right in ((inputs == MASK, 0.8), (inputs == tokens, 0.1)))


@mlm_batch.criterion(points=1)
def three_fates(trial: Trial) -> None:
    """Of the chosen, 80 % become mask_id, 10 % a random id, 10 % stay, each for itself and whatever the probability."""
    masked = _fates(trial, _constant(trial.inputs("all"), 1.0))
    _must_be_independent(trial, masked, 0.8 + 0.1 / VOCAB, "become mask_id")
    _fates(trial, _constant(trial.inputs("default")))
    # Two ids, the mask and the word: half of the random ids are what was there, unless that is avoided.
    seed = Seed(trial.inputs("two").whole_number(0, 2**31))
    _fates(trial, Call((torch.ones(ROWS, LENGTH, dtype=torch.int64), 0, [], 2, seed, 1.0)))
    # A right answer meets both shares to a token in one batch of 1,000, so in four batches once in 10^12 times.
    trial.require(not all(_exactly_divided(trial, label) for label in "abcd"),
                  "In every batch exactly 80 % of the chosen become mask_id and exactly 10 % stay; draw a number for "
                  "each token, so that its fate does not depend on that of the others.")


@mlm_batch.criterion(points=1)
def random_ids_are_uniform(trial: Trial) -> None:
    """A random id is drawn for each token by itself, uniform from 0 to vocab_size - 1."""
    inputs, labels = trial.well_formed(_constant(trial.inputs(), 1.0)).output
    other = (labels != families.IGNORED) & (inputs != MASK) & (inputs != FREE)
    trial.require(bool(other.any()), "No chosen token becomes a random id.")
    ids, right = inputs[other], 1 / (VOCAB - 2)
    trial.require(int(ids.min()) >= 0 and int(ids.max()) < VOCAB, "A random id lies outside of the vocabulary.")
    counts = ids.bincount(minlength=VOCAB).tolist()
    for i in set(range(VOCAB)) - {MASK, FREE}:
        _must_be_near(trial, (counts[i] / len(ids), len(ids)), right, "one id among the random ones")
    for dim in (0, 1):
        _must_be_near(trial, equal_beside(inputs, other, dim), right, "random ids that equal their neighbour")


@mlm_batch.criterion(points=0.5)
def the_generator_decides(trial: Trial) -> None:
    """The same state of the generator gives the same batch, and another state another one."""
    given = trial.inputs()
    call = _mlm_call(given, rows=20)
    other = replace(call, args=(*call.args[:4], Seed(given.whole_number(0, 2**31))))
    first, again, changed = (trial.well_formed(c).output for c in (call, call, other))
    trial.require(all(map(torch.equal, first, again)), "Two calls with the same generator state gave different "
                  "batches: is every draw made with `generator=generator`?")
    trial.require(not any(map(torch.equal, first, changed)), "Different generator states gave the same batch.")


@mlm_batch.criterion(points=0.5)
def arguments_unchanged(trial: Trial) -> None:
    """The arguments are the same after the call as before it."""
    reply = trial.well_formed(_mlm_call(trial.inputs(), rows=20))
    for position in reply.changed:
        trial.require(False, f"Your code changed its argument `{mlm_batch.arguments[position]}`; work on a new tensor.")
    chosen = reply.output[1] != families.IGNORED
    trial.require(bool(chosen.any()) and not bool(chosen.all()),
                  "The arguments are unchanged; that counts as soon as some tokens are chosen and some are not.")


# --- next_token_loss -------------------------------------------------------------------------------------------

def _loss_case(given: Inputs, scale: float = 1.0) -> Call:
    """Every size differs; a sequence has two tokens at least."""
    s = given.size
    batch, seq = s.batch, max(s.keys, 2)
    return Call((given.normal(batch, seq, s.vocab, scale=scale), given.whole_numbers(0, s.vocab - 1, batch, seq)))


next_token_loss = Exercise(
    "next_token_loss", CHAPTER, families.next_token_loss, _loss_case, returns=("loss",), named_whole=True,
    hints=("Write a sequence of three tokens down. Which logits are compared with which token, and which with none?",
           "The logits at position t are about token t + 1: leave out the last logits and the first token.",
           "`F.cross_entropy` takes (n, vocab) and (n,): `flatten(0, 1)` makes one axis of batch and seq.",
           "`F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())`."))
add_standard_criteria(
    next_token_loss, values=1.5, gradients=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sentence="The mean of -log softmax(logits at t) of token t + 1, over batch * (seq - 1).")


@next_token_loss.criterion(points=0.5)
def smallest_sizes(trial: Trial) -> None:
    """It works at the edge too: batch 1, vocabulary 1, and two tokens, the second of which is the only answer."""
    STANDARD["sizes_of_one"](trial)


@next_token_loss.criterion(points=0.5)
def large_logits(trial: Trial) -> None:
    """Logits in the thousands give a finite loss, and the right one."""
    for scale in (1.0, 3000.0):  # first small ones: where everything is infinite, many mistakes look alike
        trial.must_agree(_loss_case(trial.inputs(), scale))


add_standard_criteria(next_token_loss, double_precision=0.5)


@next_token_loss.criterion(points=0.5)
def the_last_logits_are_free(trial: Trial) -> None:
    """What stands at the last position has nothing to be compared with, so it changes nothing."""
    logits, tokens = trial.case().args
    changed = logits.clone()
    changed[:, -1] = 5 - changed[:, -1]
    for some in (logits, changed):
        trial.must_agree(Call((some, tokens)))


# --- span_corruption -------------------------------------------------------------------------------------------

def _span_case(given: Inputs) -> Call:
    """Words that return, spans of several lengths, and sentinels in no order, one more than is needed."""
    if given.size in (SMALL, ONES):
        return Call((given.whole_numbers(0, 9, 4).tolist(), [(1, 2)], [99, 98]))
    return _spans(given, 16, [(1, 3), (5, 6), (9, 13)])


def _spans(given: Inputs, length: int, spans: list[tuple[int, int]], spare: int = 1) -> Call:
    sentinels = (100 + torch.randperm(20, generator=given.generator))[: len(spans) + spare].tolist()
    return Call((given.whole_numbers(0, 5, length).tolist(), spans, sentinels))


span_corruption = Exercise(
    "span_corruption", CHAPTER, families.span_corruption, _span_case, returns=("inputs", "targets"), named_whole=True,
    hints=("Do it by hand for five tokens and one span: which tokens go to the inputs, which to the targets?",
           "Each sentinel is written twice: in the inputs where its span was, in the targets before the span.",
           "Walk along the spans and remember where the one before ended: `tokens[copied:start]` is what is left "
           "standing between them.",
           "After the last span comes the rest of the tokens, and in the targets the next sentinel, "
           "`sentinels[len(spans)]`."))
add_standard_criteria(
    span_corruption, values=2, arguments_unchanged=0.5,
    sentence="Inputs: a sentinel for each span. Targets: sentinel and span in turn, and the next sentinel as the end.")


@span_corruption.criterion(points=1)
def at_the_ends(trial: Trial) -> None:
    """A span may stand at the start, at the end, or be everything; and there may be none."""
    given = trial.inputs()
    for spans in ([(0, 2), (4, 5)], [(2, 4), (6, 8)], [(0, 8)], []):
        trial.must_agree(_spans(given, 8, spans))


@span_corruption.criterion(points=1)
def spans_that_touch(trial: Trial) -> None:
    """Two spans that touch are two: each has a sentinel of its own."""
    given = trial.inputs()
    for spans in ([(2, 4), (4, 7)], [(0, 1), (1, 2), (2, 3), (5, 9)]):
        trial.must_agree(_spans(given, 9, spans))


@span_corruption.criterion(points=0.5)
def more_sentinels_than_needed(trial: Trial) -> None:
    """Sentinels are used in their order, and those that are left over stay unused."""
    given = trial.inputs()
    for spare in (1, 2, 6):
        trial.must_agree(_spans(given, 10, [(1, 3), (6, 7)], spare))
