"""How good a translator is: BLEU and exact match against the length of the source, and its alignment."""

from collections.abc import Sequence

from sacrebleu.metrics import BLEU

from autograder.corpus import SentencePair
from autograder.experiments.models import AttentionTranslator, Translator

LENGTHS = ((5, 10), (11, 15), (16, 20), (21, 25), (26, 30), (31, 35), (36, 40))
"""The buckets of source lengths, in words, both ends included."""


def evaluate(model: Translator, pairs: Sequence[SentencePair]) -> dict:
    """Translate all pairs greedily: {"bleu", "exact", "last_word", "by_length"}, in percent, as `quality` says.

    by_length: for each of `LENGTHS` that occurs {"low", "high", "words" (mean length), "sentences"} and the same three.
    """
    translations = model.translate(pairs)
    by_length = []
    for low, high in LENGTHS:
        inside = [i for i, pair in enumerate(pairs) if low <= len(pair.source) <= high]
        if inside:
            chosen = [pairs[i] for i in inside]
            words = sum(len(pair.source) for pair in chosen) / len(chosen)
            by_length.append({"low": low, "high": high, "words": round(words, 1), "sentences": len(chosen),
                              **quality([translations[i] for i in inside], chosen)})
    return {**quality(translations, pairs), "by_length": by_length}


def quality(translations: Sequence[Sequence[str]], pairs: Sequence[SentencePair]) -> dict[str, float]:
    """In percent: BLEU (sacrebleu, without tokenisation or smoothing), "exact", the translations without any mistake,
    and "last_word", those whose last word is right: in French it agrees with the first noun, far away."""
    ours = [" ".join(words) for words in translations]
    theirs = [" ".join(pair.target) for pair in pairs]
    bleu = BLEU(tokenize="none", smooth_method="none", force=True).corpus_score(ours, [theirs]).score
    exact = sum(a == b for a, b in zip(ours, theirs, strict=True))
    last = sum(list(words[-1:]) == list(pair.target[-1:]) for words, pair in zip(translations, pairs, strict=True))
    return {"bleu": round(bleu, 2), "exact": round(100 * exact / len(pairs), 2),
            "last_word": round(100 * last / len(pairs), 2)}


def alignment_quality(model: AttentionTranslator, pairs: Sequence[SentencePair]) -> dict[str, float]:
    """{"accuracy", "aer"} in percent, of the source word with the largest weight for every target word.

    accuracy: how often it is a gold link. AER (Och and Ney 2003): 1 - 2 |A and S| / (|A| + |S|), as all gold links S
    are sure ones; A has one link a target word, so a target word that translates two source words costs a miss.
    """
    right = sum(int(j) in gold for weights, pair in zip(model.alignments(pairs), pairs, strict=True)
                for j, gold in zip(weights.argmax(dim=-1), pair.aligned, strict=True))
    links = sum(len(pair.target) for pair in pairs)
    gold = sum(len(pair.alignment) for pair in pairs)
    return {"accuracy": round(100 * right / links, 2), "aer": round(100 - 200 * right / (links + gold), 2)}
