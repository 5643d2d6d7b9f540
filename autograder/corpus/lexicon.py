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
    countable: bool
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
    "ANIMALS": "cat dog mouse bird horse cow fox wolf goat rabbit hen owl squirrel snake donkey goose frog hedgehog",
    "FARM": "cat dog horse cow goat rabbit hen donkey goose",
    "ADULTS": "man woman farmer doctor baker king queen sailor nurse princess fisherman witch actress",
    "CHILDREN": "boy girl child pupil",
    "FOOD": "cheese bread apple pear carrot egg cake nut",
    "WRITINGS": "letter book story poem newspaper",
    "OBJECTS": "hat key umbrella watch jewel painting boat car flower chair bed mat",
    "BUILDINGS": "house castle church farm school hospital",
    "PLACES": "garden island bridge tree forest river",
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
cow vache f 奶牛 头
fox/foxes renard m 狐狸 只
wolf/wolves loup m 狼 只
goat chèvre f 山羊 只
rabbit lapin m 兔子 只
hen poule f 母鸡 只
owl hibou m 猫头鹰 只
squirrel écureuil m 松鼠 只
snake serpent m 蛇 条
donkey âne m 驴 头
goose/geese oie f 鹅 只
frog grenouille f 青蛙 只
hedgehog hérisson m 刺猬 只
man/men homme m 男人 个
woman/women femme f 女人 个
farmer fermier m 农夫 个
doctor médecin m 医生 位
baker boulanger m 面包师 个
king roi m 国王 位
queen reine f 女王 位
sailor marin m 水手 个
nurse infirmière f 护士 位
princess/princesses princesse f 公主 位
fisherman/fishermen pêcheur m 渔夫 个
witch/witches sorcière f 女巫 个
actress/actresses actrice f 女演员 位
boy garçon m 男孩 个
girl fille f 女孩 个
child/children enfant m 孩子 个
pupil élève m 学生 个
cheese fromage m 奶酪 块
bread/- pain m 面包 块
apple pomme f 苹果 个
pear poire f 梨 个
carrot carotte f 胡萝卜 根
egg œuf m 鸡蛋 个
cake gâteau m 蛋糕 块
nut noix f 坚果 颗
letter lettre f 信 封
book livre m 书 本
story/stories histoire f 故事 个
poem poème m 诗 首
newspaper journal m 报纸 份
song chanson f 歌 首
hat chapeau m 帽子 顶
key clé f 钥匙 把
umbrella parapluie m 雨伞 把
watch/watches montre f 手表 块
jewel bijou m 首饰 件
painting tableau m 画 幅
boat bateau m 船 条
car voiture f 汽车 辆
flower fleur f 花 朵
chair chaise f 椅子 把
bed lit m 床 张
mat tapis m 垫子 块
window fenêtre f 窗户 扇
bell cloche f 钟 口
storm tempête f 暴风雨 场
house maison f 房子 座
castle château m 城堡 座
church/churches église f 教堂 座
farm ferme f 农场 座
school école f 学校 所
hospital hôpital m 医院 所
garden jardin m 花园 座
island île f 岛 座
bridge pont m 桥 座
tree arbre m 树 棵
forest forêt f 森林 片
river rivière f 河 条
"""


def _noun(line: str) -> Noun:
    english, french, gender, chinese, classifier = line.split()
    singular, _, plural = english.partition("/")
    return Noun(singular, plural or singular + "s", french, gender == "f", chinese, classifier,
                countable=plural != "-", person=singular in expand("PEOPLE"))


NOUNS = {noun.english: noun for noun in map(_noun, _NOUNS.strip().splitlines())}

_ATTRIBUTES = """
small | <petit/petite | 小 | ANIMALS CHILDREN FOOD -pupil -bread house castle church garden island bridge tree boat car chair bed key
big | <gros/grosse | 大 | ANIMALS FOOD -bread
big | <grand/grande | 大 | house castle church farm school garden island bridge tree forest river boat hat bed window
old | <vieux/vieille | 老 | ANIMALS ADULTS -mouse -princess song story tree
old | <vieux/vieille | 旧 | book newspaper hat umbrella watch car boat chair mat bed house school letter
old | <vieux/vieille | 古老 的 | castle church bridge bell
young | <jeune/jeune | 年轻 的 | ADULTS -witch
new | <nouveau/nouvelle | 新 | hat key umbrella watch car boat chair bed mat school hospital bridge book newspaper song
beautiful | <beau/belle | 漂亮 的 | cat horse bird fox owl actress princess woman hat flower car
beautiful | <beau/belle | 美丽 的 | castle garden island forest river tree
black | noir/noire | 黑 | cat dog horse goat rabbit hen bird hat umbrella car
white | blanc/blanche | 白 | cat dog horse goat rabbit hen bird mouse goose flower house
grey | gris/grise | 灰 | cat mouse rabbit wolf donkey goose horse bird
red | rouge/rouge | 红 | apple flower hat car umbrella
green | vert/verte | 绿 | apple pear umbrella car
brave | courageux/courageuse | 勇敢 的 | ADULTS CHILDREN dog mouse horse
clever | intelligent/intelligente | 聪明 的 | ADULTS CHILDREN dog fox cat owl
rich | riche/riche | 富有 的 | king queen princess man woman farmer baker doctor actress
kind | gentil/gentille | 善良 的 | ADULTS CHILDREN -witch
polite | poli/polie | 有礼貌 的 | CHILDREN
long | <long/longue | 长 | letter poem story river bridge
deep | profond/profonde | 深 | river
dark | sombre/sombre | 黑暗 的 | forest
"""

_PREDICATES = """
tired | fatigué/fatiguée | 累 | ANIMALS PEOPLE
happy | heureux/heureuse | 高兴 | ANIMALS PEOPLE
sad | triste/triste | 难过 | ANIMALS PEOPLE
furious | furieux/furieuse | 愤怒 | ANIMALS PEOPLE
calm | calme/calme | 平静 | ANIMALS PEOPLE
nervous | nerveux/nerveuse | 紧张 | ANIMALS PEOPLE
hungry | affamé/affamée | 饿 | ANIMALS PEOPLE
thirsty | assoiffé/assoiffée | 渴 | ANIMALS PEOPLE
strong | fort/forte | 强壮 | horse cow wolf goat donkey dog man farmer sailor fisherman baker
proud | fier/fière | 骄傲 | PEOPLE
surprised | surpris/surprise | 惊讶 | PEOPLE
worried | inquiet/inquiète | 担心 | PEOPLE
jealous | jaloux/jalouse | 嫉妒 | PEOPLE
shy | timide/timide | 害羞 | PEOPLE
good | bon/bonne | 好吃 | FOOD
fresh | frais/fraîche | 新鲜 | FOOD -cake
expensive | cher/chère | 贵 | FOOD OBJECTS -flower
sweet | sucré/sucrée | 甜 | apple pear cake
famous | célèbre/célèbre | 有名 | song book story poem painting castle church garden island bridge school
interesting | intéressant/intéressante | 有趣 | WRITINGS
boring | ennuyeux/ennuyeuse | 无聊 | WRITINGS
sad | triste/triste | 悲伤 | song story poem letter
strange | étrange/étrange | 奇怪 | song story poem letter book painting house
heavy | lourd/lourde | 重 | hat jewel painting chair bed bell umbrella
dirty | sale/sale | 脏 | hat umbrella car chair bed mat window house
useful | utile/utile | 有用 | key umbrella watch boat car book newspaper bridge
fragile | fragile/fragile | 脆弱 | flower
quiet | calme/calme | 安静 | house castle church farm school hospital garden island forest
mysterious | mystérieux/mystérieuse | 神秘 | castle island forest
cold | froid/froide | 冷 | house castle church school
wide | large/large | 宽 | river bridge
tall | haut/haute | 高 | tree castle
violent | violent/violente | 猛烈 | storm
"""

_VERBS = """
chased | avoir poursuivi | 追赶
    dog: cat fox rabbit squirrel hen goose; cat: mouse bird squirrel frog; fox: hen rabbit goose mouse
    wolf: goat rabbit donkey horse dog; owl: mouse frog; snake: frog mouse; goose: dog cat CHILDREN
    PEOPLE: fox wolf dog cat hen goose goat rabbit
saw | avoir vu | 看见
    ANIMALS PEOPLE: ANIMALS PEOPLE; PEOPLE: storm painting boat BUILDINGS PLACES
heard | avoir entendu | 听见
    ANIMALS PEOPLE: dog bird horse cow wolf goat hen owl donkey goose frog PEOPLE bell storm; PEOPLE: song story
followed | avoir suivi | 跟着
    dog cat fox wolf goose horse goat PEOPLE: ANIMALS PEOPLE -frog -snake; PEOPLE: river car
found | avoir trouvé | 找到
    PEOPLE: CHILDREN FARM owl hedgehog frog squirrel key hat umbrella watch jewel letter egg nut; dog: CHILDREN sailor
loved | imparfait aim | 喜爱
    PEOPLE: PEOPLE FARM song poem story garden forest island castle; dog cat horse: PEOPLE
helped | avoir aidé | 帮助 了
    PEOPLE: PEOPLE; book letter: PEOPLE; dog horse donkey: farmer man woman CHILDREN
welcomed | avoir accueilli | 迎接 了
    ADULTS: PEOPLE
thanked | avoir remercié | 感谢 了
    PEOPLE: PEOPLE
called | avoir appelé | 呼唤
    PEOPLE: PEOPLE dog cat horse goat
invited | avoir invité | 邀请 了
    PEOPLE: PEOPLE
warned | avoir averti | 警告 了
    PEOPLE: PEOPLE
met | avoir rencontré | 遇见
    PEOPLE: PEOPLE wolf fox dog goat donkey horse; fox wolf dog: PEOPLE cat goat goose donkey hedgehog
admired | imparfait admir | 钦佩
    PEOPLE: ADULTS
admired | imparfait admir | 欣赏
    PEOPLE: painting garden flower poem song castle horse bird jewel
fed | avoir nourri | 喂 了
    PEOPLE: FARM bird
bought | avoir acheté | 买 了
    ADULTS: FARM FOOD OBJECTS book newspaper house farm
sold | avoir vendu | 卖 了
    ADULTS: FARM FOOD OBJECTS book house
saved | avoir sauvé | 救 了
    PEOPLE: PEOPLE ANIMALS -snake; dog horse: PEOPLE; boat: sailor fisherman man woman
looked for | imparfait cherch | 寻找
    PEOPLE: PEOPLE FARM key hat umbrella watch jewel letter; dog: CHILDREN cat; cat: mouse; squirrel: nut
watched | imparfait observ | 看着
    ANIMALS PEOPLE: ANIMALS PEOPLE
bit | avoir mordu | 咬 了
    dog: PEOPLE fox wolf cat; snake: PEOPLE dog horse cow; horse donkey: PEOPLE; goose: CHILDREN dog
woke | avoir réveillé | 吵醒 了
    bird dog owl goose donkey hen cow frog: PEOPLE; bell storm song: PEOPLE cat dog; CHILDREN: ADULTS cat dog
frightened | avoir effrayé | 吓坏 了
    wolf snake: PEOPLE rabbit hen goose goat bird; dog: CHILDREN cat rabbit hen goose squirrel mouse bird
    witch: PEOPLE cat dog horse cow; storm: PEOPLE horse cow dog goat hen; story: CHILDREN
touched | avoir ému | 感动 了
    song story poem letter book painting: PEOPLE
consoled | avoir consolé | 安慰 了
    PEOPLE: PEOPLE; song letter poem: PEOPLE
inspired | avoir inspiré | 启发 了
    song story poem book painting: PEOPLE
read | avoir lu | 读 了
    PEOPLE: WRITINGS
wrote | avoir écrit | 写 了
    PEOPLE: letter book story poem song
lost | avoir perdu | 弄丢 了
    PEOPLE: key hat umbrella watch jewel letter book
stole | avoir volé | 偷 了
    fox: hen egg goose; mouse: cheese nut; ADULTS: jewel watch painting car boat horse hen goose
built | avoir construit | 建造 了
    man woman king queen farmer sailor: house castle church bridge boat farm school hospital
repaired | avoir réparé | 修好 了
    ADULTS: boat car house bridge watch umbrella window chair bed
broke | avoir cassé | 打碎 了
    CHILDREN cat: window egg; storm: window
sang | avoir chanté | 唱 了
    PEOPLE: song
ate | avoir mangé | 吃 了
    mouse: cheese bread nut cake; rabbit: carrot; horse donkey cow: apple carrot pear; squirrel: nut apple pear
    bird goose hen: bread; goat: carrot flower; hedgehog: apple pear egg; dog: cake bread cheese; PEOPLE: FOOD
    wolf: goat rabbit hen; fox: hen goose egg; cat: mouse bird; owl: mouse frog; snake: frog mouse egg
prepared | avoir préparé | 做 了
    PEOPLE: cake bread
visited | avoir visité | 参观 了
    PEOPLE: castle church garden farm school hospital island
feared | imparfait craign | 害怕
    mouse: cat owl snake; rabbit: fox wolf dog; hen goose: fox wolf; goat: wolf; bird: cat snake; frog: snake owl
    squirrel: fox owl dog; PEOPLE: wolf snake witch storm
knew | imparfait connaiss | 认识
    PEOPLE: PEOPLE
answered | avoir répondu à | 回答 了
    PEOPLE: PEOPLE
obeyed | avoir obéi à | 服从
    dog horse donkey: PEOPLE; CHILDREN sailor nurse farmer: king queen doctor man woman
looked like | imparfait ressembl à | 像
    man boy farmer doctor baker sailor: king man fisherman sailor
    woman girl nurse princess witch: queen princess actress nurse woman; dog: wolf fox
dreamed of | imparfait rêv de | 梦见
    PEOPLE: PEOPLE castle island horse boat forest garden jewel; cat: mouse bird; fox: hen goose; wolf: goat
took care of | se imparfait occup de | 照顾
    ADULTS: CHILDREN FARM; nurse doctor: ADULTS; CHILDREN: FARM
sat on | se être assis sur | 坐 在 ~ 上
    cat dog PEOPLE: mat chair bed
slept on | imparfait dorm sur | 睡 在 ~ 上
    cat dog CHILDREN: mat bed
entered | être entré dans | 进入 了
    ANIMALS PEOPLE: house castle church garden forest farm; PEOPLE: school hospital
came out of | être sorti de | 走出 了
    FARM fox wolf mouse hedgehog PEOPLE: house castle church garden forest farm; PEOPLE: school hospital
fell into | être tombé dans | 掉进 了
    PEOPLE cat dog goat donkey hedgehog mouse: river
arrived at | être arrivé à | 到达 了
    PEOPLE: castle church farm school hospital bridge river; horse dog donkey: farm river castle
crossed | avoir traversé | 穿过 了
    PEOPLE horse dog fox wolf: forest garden river
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
