"""Chapter 08, the project: slips around a translator that is right, or nearly."""

import random

from autograder.reference.translation import translate as right


def then(change):
    """`change(words)` of each translation."""
    return lambda sentences: [change(words) for words in right(sentences)]


def each_with(share, change, seed=0):
    """`change(words)` of so many sentences, chosen by the sentence itself: a model that is not good enough."""
    def translate(sentences):
        return [change(words) if random.Random(f"{seed} {source}").random() < share else words
                for source, words in zip(sentences, right(sentences), strict=True)]

    return translate


def another_word(words):
    return [*words[:-1], "content"]


def word_by_word(sentences):
    known = {"the": "le", "was": "était", "were": "étaient", "very": "très", "that": "qui", "who": "qui"}
    return [[known.get(word, word) for word in words] for words in sentences]


def depends_on_the_batch(sentences):
    """As a model that sees the padding: sentences shorter than the longest are wrong now and then."""
    longest = max(map(len, sentences))
    return [another_word(words) if len(source) < longest - 8 else words
            for source, words in zip(sentences, right(sentences), strict=True)]


def random_now_and_then(sentences):
    """As a model in train mode."""
    return [another_word(words) if random.random() < 0.2 else words for words in right(sentences)]


def unknown_words_raise(sentences):
    known = {"zyzzyva", "quokka", "colourless"}
    if any(known & set(words) for words in sentences):
        raise KeyError("zyzzyva")
    return right(sentences)


def no_result_for_unknown_words(sentences):
    return [words if "quokka" not in source else None for source, words in
            zip(sentences, right(sentences), strict=True)]


def only_one_at_a_time(sentences):
    if len(sentences) == 1:
        raise IndexError("too few dimensions")
    return right(sentences)


def file_missing(sentences):
    raise FileNotFoundError(2, "No such file or directory: 'translator.pt'")


def weights_do_not_fit(sentences):
    raise RuntimeError("Error(s) in loading state_dict for Transformer: size mismatch for src_emb.weight")


TRANSLATE = {
    "nothing": lambda sentences: [[] for _ in sentences],
    "always the same": lambda sentences: [["le", "chat", "était", "très", "fatigué"] for _ in sentences],
    "word by word": word_by_word,
    "every seventh is wrong": each_with(0.15, another_word),
    "a quarter is wrong": each_with(0.25, another_word),
    "six of ten are wrong": each_with(0.6, another_word),
    "capital letters": then(lambda words: [words[0].capitalize(), *words[1:]]),
    "with a full stop": then(lambda words: [*words, "."]),
    "cut off at ten words": then(lambda words: words[:10]),
    "last word twice": then(lambda words: [*words, words[-1]]),
    "numbers": then(lambda words: [len(word) for word in words]),
    "letters": then(lambda words: list("".join(words))),
    "a nested list": then(lambda words: [words]),
    "sentences in reverse order": lambda sentences: right(sentences)[::-1],
    "without the last sentence": lambda sentences: right(sentences)[:-1],
    "a dictionary": lambda sentences: {" ".join(s): w for s, w in zip(sentences, right(sentences), strict=True)},
    "a generator": lambda sentences: (words for words in right(sentences)),
    "pairs of source and target": lambda sentences: list(zip(sentences, right(sentences), strict=True)),
    "unknown written out": lambda sentences: [["<unk>" if len(w) > 9 else w for w in words]
                                              for words in right(sentences)],
    "sees the padding": depends_on_the_batch,
    "in train mode": random_now_and_then,
    "unknown words raise": unknown_words_raise,
    "nothing for unknown words": no_result_for_unknown_words,
    "not for one sentence": only_one_at_a_time,
    "file missing": file_missing,
    "weights do not fit": weights_do_not_fit,
}

WRONG = {"translate": TRANSLATE}
NAMED = {}
