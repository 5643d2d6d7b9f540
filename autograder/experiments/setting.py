"""The one setting of all experiments: the same sentences, and the same training for every model."""

from autograder.corpus import SentencePair, sentence_pairs

LONG, SHORT = 6_000, 12_000
"""Training sentences nested 0 to 7 deep, and nested 0 to 2 deep: as in real text, short ones are more common."""
TEST = 2_100
"""Test sentences, nested 0 to 7 deep: about three hundred for each bucket of lengths."""

TRAINING = {"epochs": 3, "batch_size": 16, "learning_rate": 5e-3}
SEEDS = (0, 1, 2)


def training_pairs(direction: str = "en-fr", deepest: int = 7) -> list[SentencePair]:
    """What every model is trained on; `deepest` less than 7 leaves long sentences out."""
    return [*sentence_pairs(LONG, (0, deepest), 1, direction, split="train"),
            *sentence_pairs(SHORT, (0, min(deepest, 2)), 2, direction, split="train")]


def test_pairs(direction: str = "en-fr") -> list[SentencePair]:
    """What every model is measured on; no meaning of it is in the training pairs."""
    return sentence_pairs(TEST, (0, 7), 3, direction, split="test")
