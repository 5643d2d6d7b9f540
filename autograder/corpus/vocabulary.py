"""Words to numbers and back."""

from collections.abc import Iterable, Sequence


class Vocabulary:
    """All words of some sentences, in alphabetical order after the four special ones.

    >>> words = Vocabulary([["the", "cat"]])
    >>> words.encode(["the", "dog"])
    [5, 3]
    >>> words.decode([5, 4, 2, 0])
    ['the', 'cat']
    """

    pad, bos, eos, unk = range(4)

    def __init__(self, sentences: Iterable[Sequence[str]]):
        words = sorted({word for sentence in sentences for word in sentence})
        self.words = ["<pad>", "<bos>", "<eos>", "<unk>", *words]
        self.ids = {word: number for number, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, sentence: Sequence[str]) -> list[int]:
        """The number of every word; a word that was not in the sentences is `unk`."""
        return [self.ids.get(word, self.unk) for word in sentence]

    def decode(self, numbers: Iterable[int]) -> list[str]:
        """The words up to the first `eos`, without padding and `bos`."""
        words = []
        for number in map(int, numbers):
            if number == self.eos:
                break
            if number not in (self.pad, self.bos):
                words.append(self.words[number])
        return words
