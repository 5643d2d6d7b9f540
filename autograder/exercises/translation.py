"""Chapter 08, the project: a translator that the learner has trained, on sentences that it has never seen.

The sentences are of the test split and of the lengths that the learner trained on. They are drawn here; only the
English goes to the learner's side, where there is no grammar that could translate it.
"""

from collections.abc import Sequence
from functools import lru_cache

from autograder.corpus import SentencePair, Vocabulary, sentence_pairs
from autograder.exercises.transformer import CHAPTER
from autograder.judging.compare import raised_problem
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import Inputs
from autograder.judging.judge import PUBLIC_SEED
from autograder.judging.trial import Trial
from autograder.learner.calls import Call, CodeError, Opaque, Reply
from autograder.reference import translation
from autograder.settings import LARGEST_FILE

FILE = "translator.pt"
DEPTH = (0, 2)
PARTS = {"half": 40, "eighty": 80, "ninety_five": 200, "alone_or_together": 24, "words_never_seen": 8}
"""How many sentences each criterion has; no sentence comes twice."""
BATCH, SECONDS = 100, 60.0
"""Sentences of one call, and the time that it has."""
SPECIAL = tuple(Vocabulary([]).words)
Words = tuple[str, ...]


def _case(given: Inputs) -> Call:
    pairs = sentence_pairs(6, DEPTH, given.whole_number(0, 2**40), "en-fr", split="train")
    return Call(([list(pair.source) for pair in pairs],))


@lru_cache(maxsize=64)
def hidden(seed: int) -> tuple[SentencePair, ...]:
    """Distinct pairs of the test split for all criteria together; the public seed's are in no other seed's."""
    public = set() if seed == PUBLIC_SEED else {pair.source for pair in hidden(PUBLIC_SEED)}
    found, given = {}, Inputs(seed, "translate")
    while len(found) < sum(PARTS.values()):
        for pair in sentence_pairs(50, DEPTH, given.whole_number(0, 2**40), "en-fr", split="test"):
            if pair.source not in public:
                found.setdefault(pair.source, pair)
    return tuple(found.values())[:sum(PARTS.values())]


def _part(trial: Trial) -> tuple[SentencePair, ...]:
    """The sentences of this criterion."""
    start = sum(count for name, count in PARTS.items() if list(PARTS).index(name) < list(PARTS).index(trial.criterion))
    return hidden(trial.seed)[start:start + PARTS[trial.criterion]]


def same_mistakes(calls: Sequence[Call], mine: Sequence[Reply], theirs: Sequence[Reply]) -> bool:
    """Of the sentences that either gets wrong, more than a third are the same: a model makes mistakes of its own."""
    wrong = same = 0
    for call, one, other in zip(calls, mine, theirs, strict=True):
        rows = [reply.output if isinstance(reply.output, tuple) else () for reply in (one, other)]
        if one.status != other.status or len(rows[0]) != len(rows[1]):
            return False
        right = [translation.french_of(tuple(words)) for words in call.args[0]]
        if len(right) != len(rows[0]):
            right = [()] * len(rows[0])  # there is nothing that a result of another length could be right about
        judged = [(a, b) for a, b, gold in zip(*rows, right, strict=True) if gold is not None and {a, b} != {gold}]
        wrong, same = wrong + len(judged), same + sum(a == b for a, b in judged)
    return 3 * same > wrong or not wrong


translate = Exercise(
    "translate", CHAPTER, translation.translate, _case, returns=("translations",), agreement=same_mistakes,
    named_whole=True,
    hints=("Begin with a model that learns something: 200 steps, and a look at what it says.",
           "The decoder is fed `bos` and the target and should say the target and `eos`; the loss skips the padding.",
           "Save all that `translate` needs: the words of both vocabularies beside `model.state_dict()`.",
           "To translate, start with `bos`, append the likeliest word again and again, stop when each row has `eos`.",
           "`model.eval()` after loading, `torch.no_grad()` around the loop, the source mask in every call.",
           "Stuck at 80 %? More steps, a rate that falls at the end, dropout 0: there are enough sentences."))


# --- how many are right ----------------------------------------------------------------------------------------

@translate.criterion(points=3)
def half(trial: Trial) -> None:
    """Of sentences that nobody trained on, half are translated word for word."""
    _must_be_right(trial, 50)


@translate.criterion(points=3)
def eighty(trial: Trial) -> None:
    """Of sentences that nobody trained on, 80 % are translated word for word."""
    _must_be_right(trial, 80)


@translate.criterion(points=4)
def ninety_five(trial: Trial) -> None:
    """Of sentences that nobody trained on, 95 % are translated word for word."""
    _must_be_right(trial, 95)


def _must_be_right(trial: Trial, percent: int) -> None:
    pairs, said = _part(trial), []
    for start in range(0, len(pairs), BATCH):
        said += _translations(trial, [pair.source for pair in pairs[start:start + BATCH]])
    wrong = [(pair, words) for pair, words in zip(pairs, said, strict=True) if words != pair.target]
    right = len(pairs) - len(wrong)
    trial.require(100 * right >= percent * len(pairs), f"Less than {percent} % of {len(pairs)} are right.",
                  f"Yours has {right}. {_shown(*wrong[0])}" if wrong else "")


def _shown(pair: SentencePair, words: Words) -> str:
    return f"For \"{' '.join(pair.source)}\" it says \"{' '.join(words)[:400]}\", right is \"{' '.join(pair.target)}\"."


# --- whatever stands beside it ---------------------------------------------------------------------------------

@translate.criterion(points=1)
def alone_or_together(trial: Trial) -> None:
    """A sentence has the same translation alone, in a batch with others, and in any order."""
    pairs = _part(trial)
    sources = [pair.source for pair in pairs]
    together = _translations(trial, sources)
    backwards = _translations(trial, sources[::-1])[::-1]
    alone = [_translations(trial, [source])[0] for source in sources[:6]]
    _must_be_half_right(trial, pairs, together)
    for other, how in ((backwards, "in another order"), (alone, "alone")):
        changed = [(pair, a, b) for pair, a, b in zip(pairs, together, other, strict=False) if a != b]
        trial.require(len(changed) <= 1, f"Sentences have another translation {how}: does your model see the padding, "
                      "is it in train mode, or are the results in another order than the sentences?",
                      "".join(f"\"{' '.join(p.source)}\" becomes \"{' '.join(a)}\" and \"{' '.join(b)}\"."
                              for p, a, b in changed[:1]))


@translate.criterion(points=1)
def words_never_seen(trial: Trial) -> None:
    """A word that was in no training sentence stops nothing: there is a list of words for each sentence."""
    pairs = _part(trial)
    strange = [("the", "zyzzyva", "was", "very", "tired"), ("quokka",), ("colourless", "green", "ideas", "sleep")]
    said = _translations(trial, [*strange, *(pair.source for pair in pairs)])
    _must_be_half_right(trial, pairs, said[len(strange):])


def _must_be_half_right(trial: Trial, pairs: Sequence[SentencePair], said: Sequence[Words]) -> None:
    """So that an answer that translates nothing has not earned it."""
    right = sum(words == pair.target for pair, words in zip(pairs, said, strict=True))
    trial.require(2 * right >= len(pairs), "This counts as soon as half of the sentences are right word for word.")


# --- the form of the result ------------------------------------------------------------------------------------

def _translations(trial: Trial, sources: Sequence[Words]) -> list[Words]:
    """The learner's translations, after their form was found right."""
    reply = trial.ask(Call(([list(words) for words in sources],), seconds=SECONDS))
    if reply.status == "raised":
        trial.require(False, *_raised(reply.error))
    rows = reply.output
    trial.require(isinstance(rows, tuple) and len(rows) == len(sources),
                  f"A list with one translation for each of {len(sources)} sentences was asked for; "
                  f"yours is {_kind(rows)}.")
    for row in rows:
        strange = next((word for word in row if type(word) is not str), None) if isinstance(row, tuple) else None
        trial.require(isinstance(row, tuple), f"A translation should be a list of French words; yours is {_kind(row)}.")
        trial.require(strange is None, f"A French word should be a str; yours is {_kind(strange)}.")
        left = ", ".join(f"`{word}`" for word in SPECIAL if word in row)
        trial.require(not left, f"Your translations hold {left}: that is for the model, and no word of the sentence.")
    return list(rows)


def _raised(error: CodeError) -> tuple[str, str]:
    """What to say about an exception; about the file, which a grader may have and not have, as much as is known."""
    if error.kind == "FileNotFoundError":
        return (f"Your code raised FileNotFoundError: is `{FILE}` handed in beside the notebook? "
                f"A file of more than {LARGEST_FILE // 2**20} MiB is left out.", error.text)
    if error.kind == "RuntimeError" and "state_dict" in error.text:
        return f"Your code raised RuntimeError: what `{FILE}` holds does not fit the model that it is for.", error.text
    if error.kind in ("UnpicklingError", "EOFError") or "PytorchStreamReader" in error.text:
        return f"Your code could not read `{FILE}`: is it whole, and from torch.save?", error.text
    problem = raised_problem(error)
    return problem.message, problem.detail


def _kind(value: object) -> str:
    if isinstance(value, tuple):
        return f"a list or tuple of {len(value)}"
    if isinstance(value, Opaque):
        return f"an object of type {value.type_name}"
    return "None" if value is None else f"of type {type(value).__name__}"
