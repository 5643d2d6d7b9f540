"""How good a translator is: BLEU and exact match against the length of the source, and its alignment."""

from collections.abc import Callable, Sequence

import torch
from sacrebleu.metrics import BLEU
from torch import Tensor

from autograder.corpus import SentencePair
from autograder.experiments.models import AttentionTranslator, Translator

LENGTHS = ((5, 10), (11, 15), (16, 20), (21, 25), (26, 30), (31, 35), (36, 40))
"""The buckets of source lengths, in words, both ends included."""


def evaluate(model: Translator, pairs: Sequence[SentencePair],
             length: Callable[[SentencePair], int] = lambda pair: len(pair.source)) -> dict:
    """Translate all pairs greedily: {"bleu", "exact", "by_length"}, in percent.

    by_length: for each of `LENGTHS` that occurs {"low", "high", "words" (mean length), "sentences", "bleu", "exact"}.
    """
    translations = model.translate(pairs)
    by_length = []
    for low, high in LENGTHS:
        inside = [i for i, pair in enumerate(pairs) if low <= length(pair) <= high]
        if inside:
            chosen = [pairs[i] for i in inside]
            words = sum(map(length, chosen)) / len(chosen)
            by_length.append({"low": low, "high": high, "words": round(words, 1), "sentences": len(chosen),
                              **quality([translations[i] for i in inside], chosen)})
    return {**quality(translations, pairs), "by_length": by_length}


def quality(translations: Sequence[Sequence[str]], pairs: Sequence[SentencePair]) -> dict[str, float]:
    """BLEU (sacrebleu, without tokenisation or smoothing) and the share of translations without any mistake."""
    ours = [" ".join(words) for words in translations]
    theirs = [" ".join(pair.target) for pair in pairs]
    bleu = BLEU(tokenize="none", smooth_method="none", force=True).corpus_score(ours, [theirs]).score
    exact = sum(a == b for a, b in zip(ours, theirs, strict=True)) / len(pairs)
    return {"bleu": round(bleu, 2), "exact": round(100 * exact, 2)}


def alignment_quality(model: AttentionTranslator, pairs: Sequence[SentencePair]) -> dict[str, float]:
    """{"accuracy", "aer"} in percent, of the source word with the largest weight for every target word.

    accuracy: how often it is a gold link. AER (Och and Ney 2003): 1 - 2 |A and S| / (|A| + |S|), as all gold links S
    are sure ones; A has one link a target word, so a target word that translates two source words costs a miss.
    """
    return _against_gold([weights.argmax(dim=-1) for weights in model.alignments(pairs)], pairs)


def _against_gold(chosen: Sequence[Tensor], pairs: Sequence[SentencePair]) -> dict[str, float]:
    right = sum(int(j) in gold for row, pair in zip(chosen, pairs, strict=True)
                for j, gold in zip(row, pair.aligned, strict=True))
    links = sum(len(row) for row in chosen)
    gold = sum(len(pair.alignment) for pair in pairs)
    return {"accuracy": round(100 * right / links, 2), "aer": round(100 - 200 * right / (links + gold), 2)}


def shifted_alignment_quality(model, pairs):
    rows = []
    for weights in model.alignments(pairs):
        rows.append(torch.cat([weights[1:], weights[-1:]]).argmax(dim=-1))
    return _against_gold(rows, pairs)
