"""The words of the corpus in three languages, and who can do what to whom.

One line is one meaning. French: an adjective as masculine/feminine, "<" if it stands before the noun.
Chinese: words separated by blanks; "~" in a verb is the place of its object.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """Plurals are spelled out in English only; `classifier` is the Chinese measure word of one of them."""

    english: str
    english_plural: str
    french: str
    feminine: bool
    chinese: str
    classifier: str
    person: bool


@dataclass(frozen=True)
class Adjective:
    english: str
    masculine: str
    feminine: str
    precedes: bool
    chinese: str


@dataclass(frozen=True)
class Verb:
    """`french` is a past participle, where `auxiliary` is "avoir" or "être", or the stem of an "imparfait"."""

    english: str
    auxiliary: str
    french: str
    preposition: str
    reflexive: bool
    chinese: str


GROUPS = {
    "ANIMALS": "cat dog mouse bird horse fox wolf owl",
    "ADULTS": "man woman king queen nurse",
    "CHILDREN": "boy girl child",
    "FOOD": "cheese apple cake",
    "PLACES": "castle church garden forest",
}


def expand(names: str) -> list[str]:
    """Nouns by name; a word in capitals is a group, PEOPLE are adults and children, and -name takes one out."""
    found: dict[str, None] = {}
    for name in names.split():
        if name.startswith("-"):
            found.pop(name[1:])
        elif name == "PEOPLE":
            found |= dict.fromkeys(expand("ADULTS CHILDREN"))
        else:
            found |= dict.fromkeys(GROUPS.get(name, name).split())
    return list(found)


_NOUNS = """
cat chat m 猫 只
dog chien m 狗 只
mouse/mice souris f 老鼠 只
bird oiseau m 鸟 只
horse cheval m 马 匹
fox/foxes renard m 狐狸 只
wolf/wolves loup m 狼 只
owl hibou m 猫头鹰 只
man/men homme m 男人 个
woman/women femme f 女人 个
king roi m 国王 位
queen reine f 女王 位
nurse infirmière f 护士 位
boy garçon m 男孩 个
girl fille f 女孩 个
child/children enfant m 孩子 个
cheese fromage m 奶酪 块
apple pomme f 苹果 个
cake gâteau m 蛋糕 块
letter lettre f 信 封
story/stories histoire f 故事 个
song chanson f 歌 首
jewel bijou m 首饰 件
mat tapis m 垫子 块
storm tempête f 暴风雨 场
castle château m 城堡 座
church/churches église f 教堂 座
garden jardin m 花园 座
forest forêt f 森林 片
"""


def _noun(line: str) -> Noun:
    english, french, gender, chinese, classifier = line.split()
    singular, _, plural = english.partition("/")
    return Noun(singular, plural or singular + "s", french, gender == "f", chinese, classifier,
                person=singular in expand("PEOPLE"))


NOUNS = {noun.english: noun for noun in map(_noun, _NOUNS.strip().splitlines())}

_ATTRIBUTES = """
small | <petit/petite | 小 | ANIMALS CHILDREN FOOD castle church garden jewel
big | <gros/grosse | 大 | ANIMALS FOOD
big | <grand/grande | 大 | castle church garden forest
old | <vieux/vieille | 老 | ANIMALS -mouse
old | <vieux/vieille | 年老 的 | ADULTS
old | <vieux/vieille | 古老 的 | castle church story song
old | <vieux/vieille | 旧 | letter mat
young | <jeune/jeune | 年轻 的 | ADULTS
beautiful | <beau/belle | 漂亮 的 | cat horse bird fox owl woman queen jewel
beautiful | <beau/belle | 美丽 的 | castle garden forest
black | noir/noire | 黑 | cat dog horse bird
white | blanc/blanche | 白 | cat dog horse bird mouse
red | rouge/rouge | 红 | apple
brave | courageux/courageuse | 勇敢 的 | ADULTS CHILDREN dog mouse horse
"""

_PREDICATES = """
tired | fatigué/fatiguée | 累 | ANIMALS ADULTS CHILDREN
happy | heureux/heureuse | 高兴 | ANIMALS ADULTS CHILDREN
sad | triste/triste | 难过 | ANIMALS ADULTS CHILDREN
furious | furieux/furieuse | 愤怒 | ANIMALS ADULTS CHILDREN
hungry | affamé/affamée | 饿 | ANIMALS ADULTS CHILDREN
proud | fier/fière | 骄傲 | ADULTS CHILDREN
surprised | surpris/surprise | 惊讶 | ADULTS CHILDREN
good | bon/bonne | 好吃 | FOOD
expensive | cher/chère | 贵 | FOOD jewel mat
sad | triste/triste | 悲伤 | song story letter
strange | étrange/étrange | 奇怪 | song story letter jewel
famous | célèbre/célèbre | 有名 | song story castle church garden
cold | froid/froide | 冷 | castle church
quiet | calme/calme | 安静 | castle church garden forest
violent | violent/violente | 猛烈 | storm
"""

_VERBS = """
chased | avoir poursuivi | 追赶
    dog: cat fox; cat: mouse bird; fox: mouse bird; wolf: horse dog fox; owl: mouse; PEOPLE: fox wolf dog cat
saw | avoir vu | 看见
    ANIMALS PEOPLE: ANIMALS PEOPLE; PEOPLE: storm PLACES
followed | avoir suivi | 跟着
    dog cat fox wolf horse PEOPLE: ANIMALS PEOPLE
loved | imparfait aim | 喜爱
    PEOPLE: PEOPLE cat dog horse bird song story garden forest; dog cat horse: PEOPLE
helped | avoir aidé | 帮助 了
    PEOPLE: PEOPLE; dog horse: man woman CHILDREN
woke | avoir réveillé | 吵醒 了
    bird dog owl: PEOPLE; storm song: PEOPLE cat dog; CHILDREN: ADULTS cat dog
touched | avoir ému | 感动 了
    song story letter: PEOPLE
ate | avoir mangé | 吃 了
    mouse: cheese cake; horse: apple; dog: cake cheese; PEOPLE: FOOD; fox wolf: bird; cat owl: mouse bird
found | avoir trouvé | 找到
    PEOPLE: CHILDREN cat dog horse jewel letter; dog: CHILDREN
lost | avoir perdu | 弄丢 了
    PEOPLE: jewel letter
wrote | avoir écrit | 写 了
    PEOPLE: letter story song
built | avoir construit | 建造 了
    man woman king queen: castle church
looked for | imparfait cherch | 寻找
    PEOPLE: PEOPLE cat dog horse jewel letter; dog: CHILDREN cat; cat: mouse
dreamed of | imparfait rêv de | 梦见
    PEOPLE: PEOPLE horse castle forest garden jewel; cat: mouse bird
answered | avoir répondu à | 回答 了
    PEOPLE: PEOPLE
took care of | se imparfait occup de | 照顾
    ADULTS CHILDREN: CHILDREN cat dog horse; nurse: ADULTS
sat on | se être assis sur | 坐 在 ~ 上
    cat dog PEOPLE: mat
entered | être entré dans | 进入 了
    ANIMALS PEOPLE: castle church garden forest
came out of | être sorti de | 走出 了
    ANIMALS -bird -owl PEOPLE: castle church garden forest
"""


def _adjective(line: str) -> tuple[Adjective, list[str]]:
    english, french, chinese, nouns = (part.strip() for part in line.split("|"))
    masculine, feminine = french.removeprefix("<").split("/")
    return Adjective(english, masculine, feminine, french.startswith("<"), chinese), expand(nouns)


def _by_noun(table: str) -> dict[str, list[Adjective]]:
    adjectives = [_adjective(line) for line in table.strip().splitlines()]
    return {noun: [adjective for adjective, nouns in adjectives if noun in nouns] for noun in NOUNS}


ATTRIBUTES = _by_noun(_ATTRIBUTES)
"""What may stand beside a noun: size, age, colour. Never what can be its predicate, so that nothing contradicts."""

PREDICATES = _by_noun(_PREDICATES)
"""What may be said of a noun."""


def _verb(line: str) -> Verb:
    english, french, chinese = (part.strip() for part in line.split("|"))
    words = french.removeprefix("se ").split()
    auxiliary, form, preposition = (*words, "")[:3]
    return Verb(english, auxiliary, form, preposition, french.startswith("se "), chinese)


def _verbs() -> dict[Verb, dict[str, list[str]]]:
    verbs: dict[Verb, dict[str, list[str]]] = {}
    for line in _VERBS.strip().splitlines():
        if "|" in line:
            pairs = verbs.setdefault(_verb(line), {})
            continue
        for row in line.split(";"):
            subjects, objects = row.split(":")
            for subject in expand(subjects):
                pairs[subject] = list(dict.fromkeys([*pairs.get(subject, []), *expand(objects)]))
    return verbs


VERBS = _verbs()
"""For every verb: the nouns that can be its subject, each with the nouns that can be its object then."""

ADVERBS = {"very": ("très", "非常"), "rather": ("plutôt", "相当"), "particularly": ("particulièrement", "特别")}
PRONOUNS = {"I": ("je", "我"), "he": ("il", "他"), "she": ("elle", "她"), "we": ("nous", "我们")}
