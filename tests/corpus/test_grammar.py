"""The three languages are right: whole sentences read by a person, and rules checked on many sentences."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.corpus import article_pair, sentence_pairs
from autograder.corpus.english import sentence as english
from autograder.corpus.french import plural, starts_with_vowel
from autograder.corpus.french import sentence as french
from autograder.corpus.lexicon import ATTRIBUTES, NOUNS, PREDICATES, VERBS
from autograder.corpus.meaning import DOES, DONE_BY, draw

FRENCH = {
    """the old man was very hungry
    le vieil homme était très affamé""",
    """the brave men were rather tired
    les hommes courageux étaient plutôt fatigués""",
    """the mice were very furious
    les souris étaient très furieuses""",
    """the cat that dreamed of the birds was rather sad
    le chat qui rêvait des oiseaux était plutôt triste""",
    """the churches that we built were rather famous
    les églises que nous avons construites étaient plutôt célèbres""",
    """the horse that came out of the old castle that I built was very hungry
    le cheval qui est sorti du vieux château que j' ai construit était très affamé""",
    """the men who answered the young women who lost the letter were very hungry
    les hommes qui ont répondu aux jeunes femmes qui ont perdu la lettre étaient très affamés""",
    """the kings who followed the cats that sat on the mat were rather happy
    les rois qui ont suivi les chats qui se sont assis sur le tapis étaient plutôt heureux""",
    """the king who lost the letters that touched the queens who loved the horse that saw the brave boy was rather \
hungry
    le roi qui a perdu les lettres qui ont ému les reines qui aimaient le cheval qui a vu le garçon courageux était \
plutôt affamé""",
    """the owl that chased the mouse that the big cat ate was very furious
    le hibou qui a poursuivi la souris que le gros chat a mangée était très furieux""",
}
CHINESE = {
    """那个 年老 的 男人 非常 饿
    the old man was very hungry""",
    """那些 老鼠 非常 愤怒
    the mice were very furious""",
    """那只 梦见 那些 鸟 的 猫 相当 难过
    the cat that dreamed of the birds was rather sad""",
    """我们 建造 的 那些 教堂 相当 有名
    the churches that we built were rather famous""",
    """那匹 走出 了 我 建造 的 那座 古老 的 城堡 的 马 非常 饿
    the horse that came out of the old castle that I built was very hungry""",
    """那些 跟着 那些 坐 在 那块 垫子 上 的 猫 的 国王 相当 高兴
    the kings who followed the cats that sat on the mat were rather happy""",
    """那个 找到 这只 走出 了 那座 小 花园 的 狗 的 女孩 相当 累
    the girl who found this dog that came out of the small garden was rather tired""",
    """那位 弄丢 了 那些 男孩 找到 的 那封 旧 信 的 女王 特别 累
    the queen who lost the old letter that the boys found was particularly tired""",
    """这些 追赶 那只 跟着 那只 进入 了 那片 美丽 的 森林 的 鸟 的 猫 的 白 狗 相当 高兴
    these white dogs that chased the cat that followed the bird that entered the beautiful forest were rather happy""",
    """那位 看见 那些 暴风雨 的 护士 相当 高兴
    the nurse who saw the storms was rather happy""",
}


@pytest.mark.parametrize(("direction", "golden"), [("en-fr", FRENCH), ("zh-en", CHINESE)])
def test_golden_pairs_are_generated_as_a_person_wrote_them(direction, golden):
    found = {str(pair) for pair in sentence_pairs(60, (0, 4), 7, direction)}
    golden = {re.sub(r"\n +", "\n", text) for text in golden}
    assert len(golden) == 10 and golden <= found, golden - found


def test_the_sentence_of_the_article():
    sentence = "the cat that chased the mouse that ate the cheese was very tired"
    assert str(article_pair("en-fr")) == (
        f"{sentence}\nle chat qui a poursuivi la souris qui a mangé le fromage était très fatigué")
    assert str(article_pair("zh-en")) == f"那只 追赶 那只 吃 了 那块 奶酪 的 老鼠 的 猫 非常 累\n{sentence}"
    assert article_pair("en-fr").depth == 2


MEANINGS = st.builds(draw, st.randoms(use_true_random=False), st.integers(0, 7))


def heads_and_clauses(meaning):
    head = meaning.subject
    while head is not None and not isinstance(head, str):
        yield head, head.relative
        head = head.relative and head.relative.other


@given(MEANINGS)
@settings(max_examples=300)
def test_the_predicate_agrees_with_the_first_noun(meaning):
    phrase, predicate = meaning.subject, meaning.predicate
    *_, was, _, said = (word.text for word in french(meaning))
    assert was == ("étaient" if phrase.plural else "était")
    form = predicate.feminine if phrase.noun.feminine else predicate.masculine
    assert said == (plural(form) if phrase.plural else form)
    assert [word.text for word in english(meaning)][-3] == ("were" if phrase.plural else "was")


ELIDED = {"l'": ("le", "la"), "qu'": ("que",), "j'": ("je",), "s'": ("se",)}


@given(MEANINGS)
@settings(max_examples=300)
def test_elision_and_contraction_happen_exactly_where_they_must(meaning):
    words = [word.text for word in french(meaning)]
    for before, this, following in zip(["-", *words], words, words[1:], strict=False):
        if this in ELIDED:
            assert starts_with_vowel(following)
        if this in ("le", "la", "que", "je", "se", "ce") or (this in ("beau", "vieux") and before in ("le", "ce")):
            assert not starts_with_vowel(following), (this, following)
        if this in ("cet", "bel", "vieil"):
            assert starts_with_vowel(following)
        if this in ("à", "de"):
            assert following not in ("le", "les")


@given(MEANINGS)
@settings(max_examples=300)
def test_participles_agree_with_the_head_where_they_must(meaning):
    """With être always, with avoir only after "que"."""
    words = french(meaning)
    for level, (head, clause) in enumerate(heads_and_clauses(meaning), start=1):
        if clause is None or clause.verb.auxiliary == "imparfait":
            continue
        agrees = clause.verb.auxiliary == "être" or not clause.head_is_subject
        form = clause.verb.french + ("e" if agrees and head.noun.feminine else "")
        form = plural(form) if agrees and head.plural else form
        said = [word.text for word in words if ("verb", level) in word.says]
        assert said[-1] == form


@given(MEANINGS)
@settings(max_examples=300)
def test_nothing_comes_twice_and_only_the_plausible_is_said(meaning):
    clauses = list(heads_and_clauses(meaning))
    names = [head.noun.english for head, _ in clauses]
    assert len(set(names)) == len(names)
    assert meaning.predicate in PREDICATES[names[0]]
    for head, clause in clauses:
        assert head.attribute is None or head.attribute in ATTRIBUTES[head.noun.english]
        if clause is None:
            continue
        other = "man" if isinstance(clause.other, str) else clause.other.noun.english
        subject, object_ = (head.noun.english, other) if clause.head_is_subject else (other, head.noun.english)
        assert object_ in VERBS[clause.verb][subject]


def test_english_says_who_of_people_that_do_something_and_that_of_all_else():
    people = {form for noun in NOUNS.values() if noun.person for form in (noun.english, noun.english_plural)}
    for pair in sentence_pairs(300, (1, 7), 0, "en-fr"):
        for before, pronoun, after in zip(pair.source, pair.source[1:], pair.source[2:], strict=False):
            if pronoun == "who":
                assert before in people and after not in ("the", "this", "these", "I", "he", "she", "we")


def test_the_lexicon_has_no_word_that_nobody_can_use():
    named = {noun for pairs in VERBS.values() for subject, objects in pairs.items() for noun in (subject, *objects)}
    assert named <= set(NOUNS)
    for name in NOUNS:
        assert name in named and (PREDICATES[name] or name == "mat")
        assert DOES[name] or DONE_BY[name] or name == "mat"
        assert not {a.english for a in ATTRIBUTES[name]} & {p.english for p in PREDICATES[name]}


@pytest.mark.parametrize("words", ["oiseau oiseaux", "cheval chevaux", "souris souris", "bijou bijoux", "hibou hiboux",
                                   "heureux heureux", "chat chats", "surpris surpris", "gâteau gâteaux"])
def test_plurals(words):
    singular, more = words.split()
    assert plural(singular) == more
