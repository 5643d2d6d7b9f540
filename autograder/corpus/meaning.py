"""What a sentence says, before any language: a subject with nested relative clauses, and what is said of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from autograder.corpus.lexicon import ADVERBS, ATTRIBUTES, NOUNS, PREDICATES, PRONOUNS, VERBS, Adjective, Noun, Verb

PLURAL, NEAR, ATTRIBUTE, HEAD_IS_OBJECT, PRONOUN = 0.3, 0.1, 0.25, 0.4, 0.5
"""How often: several of them; "this" instead of "the"; an adjective beside the noun; the innermost relative clause
says what was done to its noun ("the cheese that the mouse ate"); its subject then is a pronoun."""


@dataclass(frozen=True)
class NounPhrase:
    noun: Noun
    plural: bool
    near: bool
    attribute: Adjective | None
    relative: "Relative | None"


@dataclass(frozen=True)
class Relative:
    """A clause about a noun, which is its subject ("that chased the mouse") or its object ("that the cat chased").

    other: who else takes part; a pronoun ("she") only as subject.
    """

    verb: Verb
    other: NounPhrase | str
    head_is_subject: bool


@dataclass(frozen=True)
class Meaning:
    subject: NounPhrase
    adverb: str
    predicate: Adjective


DOES = {noun: [(verb, pairs[noun]) for verb, pairs in VERBS.items() if noun in pairs] for noun in NOUNS}
"""For every noun what it can do: the verbs, each with the possible objects."""

DONE_BY = {noun: [(verb, subjects) for verb, pairs in VERBS.items() if not verb.preposition
                  if (subjects := [subject for subject, objects in pairs.items() if noun in objects])]
           for noun in NOUNS}
"""For every noun what can be done to it: the verbs, each with the possible subjects. Only verbs without a preposition,
because the others would need "dont" or "auquel" in a French relative clause."""


class DeadEnd(Exception):
    """The nouns and verbs that are left cannot go on from here."""


def draw(random: Random, depth: int) -> Meaning:
    """A meaning with exactly `depth` relative clauses, one inside the other. No noun, verb or adjective comes twice."""
    while True:
        used: set[str] = set()
        try:
            subject = _noun_phrase(random, [noun for noun in NOUNS if PREDICATES[noun]], depth, used)
        except DeadEnd:
            continue
        return Meaning(subject, random.choice(list(ADVERBS)), random.choice(PREDICATES[subject.noun.english]))


def _noun_phrase(random: Random, nouns: Sequence[str], depth: int, used: set[str]) -> NounPhrase:
    name = _choose(random, [noun for noun in nouns if noun not in used and (depth < 2 or DOES[noun])])
    used.add(name)
    noun = NOUNS[name]
    attribute = None
    attributes = [attribute for attribute in ATTRIBUTES[name] if attribute.english not in used]
    if attributes and random.random() < ATTRIBUTE:
        attribute = random.choice(attributes)
        used.add(attribute.english)
    plural, near = random.random() < PLURAL, random.random() < NEAR
    return NounPhrase(noun, plural, near, attribute, _relative(random, name, depth, used) if depth else None)


def _relative(random: Random, head: str, depth: int, used: set[str]) -> Relative:
    if depth == 1 and DONE_BY[head] and (not DOES[head] or random.random() < HEAD_IS_OBJECT):
        verb, subjects = _choose(random, [row for row in DONE_BY[head] if row[0].english not in used])
        if "man" in subjects and random.random() < PRONOUN:
            return Relative(verb, random.choice(list(PRONOUNS)), head_is_subject=False)
        return Relative(verb, _noun_phrase(random, subjects, 0, used), head_is_subject=False)
    verb, objects = _choose(random, [row for row in DOES[head] if row[0].english not in used])
    used.add(verb.english)
    return Relative(verb, _noun_phrase(random, objects, depth - 1, used), head_is_subject=True)


def _choose(random: Random, candidates: Sequence):
    if not candidates:
        raise DeadEnd
    return random.choice(candidates)
