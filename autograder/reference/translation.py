"""English of the corpus into French by its grammar: what a trained translator is held against.

A sentence is read back into its meaning, and the meaning is said in French. No learner needs this: a model is to learn
it from examples. It works only where the grammar is, which is outside of the sandbox.
"""

from collections.abc import Sequence
from functools import lru_cache

from autograder.corpus import french
from autograder.corpus.lexicon import ADVERBS, ATTRIBUTES, NOUNS, PREDICATES, PRONOUNS, VERBS
from autograder.corpus.meaning import Meaning, NounPhrase, Relative

FORMS = {form: (noun, form != noun.english) for noun in NOUNS.values() for form in (noun.english, noun.english_plural)}
"""A noun as it is written, and whether there are several."""
DETERMINERS = {"the": False, "this": True, "these": True}
"""Whether what it points to is near."""


class NotOfTheCorpus(ValueError):
    """The grammar does not make this sentence."""


def translate(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """English sentences of the corpus, as words, into French: a list of words for each, in their order.

    What the grammar does not make, such as a sentence with other words, comes back as it is.
    """
    return [list(_translated(tuple(words))) for words in sentences]


@lru_cache(maxsize=100_000)
def french_of(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The one right translation; None where the grammar does not make the sentence."""
    try:
        return tuple(word.text for word in french.sentence(_Reader(words).meaning()))
    except NotOfTheCorpus:
        return None


def _translated(words: tuple[str, ...]) -> tuple[str, ...]:
    right = french_of(words)
    return words if right is None else right


class _Reader:
    """Reads a sentence from left to right; each method takes what it names."""

    def __init__(self, words: tuple[str, ...]):
        self.rest = list(words)

    def meaning(self) -> Meaning:
        subject = self.noun_phrase()
        self.take("were" if subject.plural else "was")
        adverb = self.take(*ADVERBS)
        known = {adjective.english: adjective for adjective in PREDICATES[subject.noun.english]}
        meaning = Meaning(subject, adverb, known[self.take(*known)])
        if self.rest:
            raise NotOfTheCorpus
        return meaning

    def noun_phrase(self) -> NounPhrase:
        near = DETERMINERS[self.take(*DETERMINERS)]
        described = self.rest[:1] and self.rest[0] not in FORMS
        attribute = self.rest.pop(0) if described else None
        noun, plural = FORMS[self.take(*FORMS)]
        known = {adjective.english: adjective for adjective in ATTRIBUTES[noun.english]}
        if attribute not in (None, *known):
            raise NotOfTheCorpus
        relative = self.relative() if self.rest[:1] and self.rest[0] in ("who", "that") else None
        return NounPhrase(noun, plural, near, known.get(attribute), relative)

    def relative(self) -> Relative:
        self.take("who", "that")
        verb = self.verb()
        if verb is not None:
            return Relative(verb, self.noun_phrase(), head_is_subject=True)
        pronoun = self.rest[:1] and self.rest[0] in PRONOUNS
        other, verb = self.rest.pop(0) if pronoun else self.noun_phrase(), self.verb()
        if verb is None:
            raise NotOfTheCorpus
        return Relative(verb, other, head_is_subject=False)

    def verb(self):
        """The longest verb that stands here; None for none."""
        for verb in sorted(VERBS, key=lambda verb: -len(verb.english.split())):
            words = verb.english.split()
            if self.rest[:len(words)] == words:
                del self.rest[:len(words)]
                return verb
        return None

    def take(self, *wanted: str) -> str:
        if not self.rest or self.rest[0] not in wanted:
            raise NotOfTheCorpus
        return self.rest.pop(0)
