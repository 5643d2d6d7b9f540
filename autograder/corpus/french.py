"""A meaning in French: agreement, elision, contraction.

An elided word is a word of its own: l' homme.
"""

from autograder.corpus.lexicon import ADVERBS, PRONOUNS, Adjective, Verb
from autograder.corpus.meaning import Meaning, NounPhrase, Relative
from autograder.corpus.words import Word, word

BEFORE_VOWEL = {"beau": "bel", "vieux": "vieil"}
CONTRACTED = {("à", "le"): "au", ("à", "les"): "aux", ("de", "le"): "du", ("de", "les"): "des"}
ASPIRATED = ("hibou",)
"""Nouns whose h allows no elision: le hibou, but l' homme."""

FORMS = {  # by person: of avoir, of être, ending of the imparfait
    "je": ("ai", "suis", "ais"),
    "nous": ("avons", "sommes", "ions"),
    "il": ("a", "est", "ait"),
    "elle": ("a", "est", "ait"),
    "ils": ("ont", "sont", "aient"),
}


def sentence(meaning: Meaning) -> list[Word]:
    """ "le chat qui a poursuivi la souris était très fatigué", as words. The predicate agrees with the first noun."""
    subject = meaning.subject
    was = "étaient" if subject.plural else "était"
    return [*_noun_phrase(subject, 0), word(was, 0, "be"), word(ADVERBS[meaning.adverb][0], 0, "adverb"),
            word(agree(meaning.predicate.masculine, meaning.predicate.feminine, subject), 0, "predicate")]


def plural(text: str) -> str:
    """chats, souris, oiseaux, bijoux, chevaux."""
    if text[-1] in "sxz":
        return text
    if text.endswith("al"):
        return text[:-1] + "ux"
    return text + ("x" if text.endswith(("eau", "bijou", "hibou")) else "s")


def starts_with_vowel(text: str) -> bool:
    """Whether le, la, de, je, se and que lose their vowel before this word."""
    return text[0] in "aeiouâéèêîôœh" and text not in ASPIRATED


def agree(masculine: str, feminine: str, phrase: NounPhrase) -> str:
    """The form of an adjective or a participle that agrees with a noun."""
    form = feminine if phrase.noun.feminine else masculine
    return plural(form) if phrase.plural else form


def _attribute(adjective: Adjective, phrase: NounPhrase) -> str:
    form = agree(adjective.masculine, adjective.feminine, phrase)
    vowel_follows = starts_with_vowel(phrase.noun.french) and not phrase.plural
    return BEFORE_VOWEL.get(form, form) if vowel_follows else form


def _noun_phrase(phrase: NounPhrase, level: int, preposition: str = "") -> list[Word]:
    noun = word(plural(phrase.noun.french) if phrase.plural else phrase.noun.french, level, "noun")
    words = [noun]
    if phrase.attribute:
        attribute = word(_attribute(phrase.attribute, phrase), level, "attribute")
        words = [attribute, noun] if phrase.attribute.precedes else [noun, attribute]
    words = _with_determiner(phrase, words, level, preposition)
    return words + _relative(phrase, phrase.relative, level + 1) if phrase.relative else words


def _with_determiner(phrase: NounPhrase, words: list[Word], level: int, preposition: str) -> list[Word]:
    determiner = _determiner(phrase, starts_with_vowel(words[0].text))
    contracted = CONTRACTED.get((preposition, determiner))
    if contracted:
        return [word(contracted, level, "particle", "determiner"), *words]
    before = [word(preposition, level, "particle")] if preposition else []
    return [*before, word(determiner, level, "determiner"), *words]


def _determiner(phrase: NounPhrase, before_vowel: bool) -> str:
    if phrase.plural:
        return "ces" if phrase.near else "les"
    if phrase.noun.feminine:
        return "cette" if phrase.near else "l'" if before_vowel else "la"
    if before_vowel:
        return "cet" if phrase.near else "l'"
    return "ce" if phrase.near else "le"


def _relative(head: NounPhrase, clause: Relative, level: int) -> list[Word]:
    if clause.head_is_subject:
        verb = _verb(clause.verb, _person(head), level, head if clause.verb.auxiliary == "être" else None)
        return [word("qui", level, "relative"), *verb, *_noun_phrase(clause.other, level, clause.verb.preposition)]
    if isinstance(clause.other, str):
        person = PRONOUNS[clause.other][0]
        other = [word(person, level, "noun")]
    else:
        person = _person(clause.other)
        other = _noun_phrase(clause.other, level)
    verb = _verb(clause.verb, person, level, head)
    return _elided([word("que", level, "relative"), *other, *verb])


def _person(phrase: NounPhrase) -> str:
    return "ils" if phrase.plural else "il"


def _verb(verb: Verb, person: str, level: int, agrees_with: NounPhrase | None) -> list[Word]:
    """agrees_with: the participle's noun. With être it is the subject, with avoir an object that stands before it."""
    avoir, etre, ending = FORMS[person]
    if verb.auxiliary == "imparfait":
        texts = [verb.french + ending]
    else:
        participle = agree(verb.french, verb.french + "e", agrees_with) if agrees_with else verb.french
        texts = [etre if verb.auxiliary == "être" else avoir, participle]
    roles = ["verb"] if verb.preposition else ["verb", "particle"]
    return _elided([word(text, level, *roles) for text in (["se"] if verb.reflexive else []) + texts])


def _elided(words: list[Word]) -> list[Word]:
    """que, je and se before a vowel."""
    return [Word(this.text[:-1] + "'", this.says)
            if this.text in ("que", "je", "se") and starts_with_vowel(following.text) else this
            for this, following in zip(words, [*words[1:], word("-", 0)], strict=True)]
