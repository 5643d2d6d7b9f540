"""A meaning in English."""

from autograder.corpus.meaning import Meaning, NounPhrase, Relative
from autograder.corpus.words import Word, verb_words, word


def sentence(meaning: Meaning) -> list[Word]:
    """ "the cat that chased the mouse was very tired", as words."""
    was = "were" if meaning.subject.plural else "was"
    return [*_noun_phrase(meaning.subject, 0), word(was, 0, "be"), word(meaning.adverb, 0, "adverb"),
            word(meaning.predicate.english, 0, "predicate")]


def _noun_phrase(phrase: NounPhrase, level: int) -> list[Word]:
    determiner = ("these" if phrase.plural else "this") if phrase.near else "the"
    words = [word(determiner, level, "determiner")]
    if phrase.attribute:
        words.append(word(phrase.attribute.english, level, "attribute"))
    words.append(word(phrase.noun.english_plural if phrase.plural else phrase.noun.english, level, "noun"))
    return words + _relative(phrase, phrase.relative, level + 1) if phrase.relative else words


def _relative(head: NounPhrase, clause: Relative, level: int) -> list[Word]:
    pronoun = "who" if head.noun.person and clause.head_is_subject else "that"
    other = _other(clause.other, level)
    verb = verb_words(clause.verb.english, level)
    return [word(pronoun, level, "relative"), *(verb + other if clause.head_is_subject else other + verb)]


def _other(other: NounPhrase | str, level: int) -> list[Word]:
    return [word(other, level, "noun")] if isinstance(other, str) else _noun_phrase(other, level)
