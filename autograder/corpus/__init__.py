"""Sentences in English, French and Chinese from one small grammar, with the gold word alignment.

The same meanings in all three languages: a noun, relative clauses nested up to seven deep, and a predicate that
agrees with the first noun across all of them. So a translator must remember, and what it should look at is known.

>>> pair = article_pair("en-fr")
>>> print(pair)
the cat that chased the mouse that ate the cheese was very tired
le chat qui a poursuivi la souris qui a mangé le fromage était très fatigué
>>> [pair.source[j] for j in sorted(pair.aligned[4])]
['chased']
"""

from autograder.corpus.pairs import SentencePair, article_pair, sentence_pairs
from autograder.corpus.vocabulary import Vocabulary

__all__ = ["SentencePair", "Vocabulary", "article_pair", "sentence_pairs"]
