"""The twelve chapters: the one list that the map, the road and the page of claims are made from."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"


@dataclass(frozen=True)
class Chapter:
    """One chapter: its id, title, short name on the road, the question it answers, its part of the course.

    The last one looks back and asks for nothing new, so it has no exercises of its own.
    """

    id: str
    title: str
    short: str
    answers: str
    part: str
    exercises: bool = True

    @property
    def number(self) -> int:
        return int(self.id[:2])

    def file(self, book: Path = BOOK) -> Path | None:
        """The chapter's page in the book, or None while it is not written."""
        return next((path for end in (".ipynb", ".md") if (path := book / f"{self.id}{end}").exists()), None)


PARTS = {
    "before": "Looking back at the source",
    "formula": "One formula",
    "machine": "The whole machine",
    "use": "What it costs, what it became",
}

CHAPTERS = [
    Chapter("01_bottleneck", "The bottleneck of one vector", "One vector",
            "Why does translation get worse as sentences get longer?", "before"),
    Chapter("02_bahdanau", "Bahdanau: attention by addition", "Bahdanau",
            "How can a decoder look back at the source, and learn by itself where to look?", "before"),
    Chapter("03_luong", "Luong: attention by multiplication", "Luong",
            "What is the cheapest way to say how well two vectors match?", "before"),
    Chapter("04_self_attention", "Self-attention: queries, keys and values", "Self-attention",
            "What remains when the recurrent network is taken away?", "formula"),
    Chapter("05_scaling", "Scaling: why divide by the root of $d_k$", "Scaling",
            "What does one square root have to do with whether a model trains?", "formula"),
    Chapter("06_multi_head", "Multi-head attention and the causal mask", "Many heads",
            "How does a model look at several things at once, and never at the future?", "machine"),
    Chapter("07_positional_encoding", "Positional encoding", "Positions",
            "How does a model that sees a set learn about order?", "machine"),
    Chapter("08_transformer", "The Transformer from scratch", "Transformer",
            "How do the pieces make a machine that translates?", "machine"),
    Chapter("09_comparison", "Self-attention, RNN and CNN compared", "RNN, CNN, cost",
            "When is the square of the length worth its price?", "use"),
    Chapter("10_families", "Three families: encoder, decoder, both", "Three families",
            "How do BERT, GPT and T5 come from the same blocks?", "use"),
    Chapter("11_questions", "Questions and answers", "Questions",
            "What do people ask, and get wrong, after reading all this?", "use"),
    Chapter("12_takeaways", "Take-aways", "Take-aways",
            "What should you still know in a year?", "use", exercises=False),
]  # fmt: skip

BY_ID = {chapter.id: chapter for chapter in CHAPTERS}
