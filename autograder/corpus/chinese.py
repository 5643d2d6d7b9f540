"""A meaning in Chinese: relative clauses stand before their noun, so the first noun of English comes last."""

from autograder.corpus.lexicon import ADVERBS, PRONOUNS
from autograder.corpus.meaning import Meaning, NounPhrase, Relative
from autograder.corpus.words import Word, verb_words, word


def sentence(meaning: Meaning) -> list[Word]:
    """那只 追赶 那只 老鼠 的 猫 非常 累. An adjective is a verb of its own here, so 累 says "was" too."""
    return [*_noun_phrase(meaning.subject, 0), word(ADVERBS[meaning.adverb][1], 0, "adverb"),
            word(meaning.predicate.chinese, 0, "predicate", "be")]


def _noun_phrase(phrase: NounPhrase, level: int) -> list[Word]:
    counted = "些" if phrase.plural else phrase.noun.classifier
    words = [word(("这" if phrase.near else "那") + counted, level, "determiner")]
    if phrase.relative:
        clause = _relative(phrase.relative, level + 1)
        # 那只 吃 了 奶酪 的 老鼠, but 老鼠 吃 的 那块 奶酪: two determiners side by side are hard to read
        words = words + clause if phrase.relative.head_is_subject else clause + words
    if phrase.attribute:
        adjective, *particle = phrase.attribute.chinese.split()
        words += [word(adjective, level, "attribute"), *(word(de, level) for de in particle)]
    return [*words, word(phrase.noun.chinese, level, "noun")]


def _relative(clause: Relative, level: int) -> list[Word]:
    de = word("的", level, "relative")
    verb, _, after = clause.verb.chinese.partition("~")
    finished = verb.endswith("了")
    verb = verb_words(verb.removesuffix("了"), level)
    other = _other(clause.other, level)
    if not clause.head_is_subject:
        return [*other, *verb, de]  # without 了: 她 买 的
    aspect = [word("了", level)] if finished else []
    return [*verb, *aspect, *other, *(word(text, level, "particle") for text in after.split()), de]


def _other(other: NounPhrase | str, level: int) -> list[Word]:
    return [word(PRONOUNS[other][1], level, "noun")] if isinstance(other, str) else _noun_phrase(other, level)
