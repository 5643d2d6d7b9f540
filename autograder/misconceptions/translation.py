"""Chapter 08, the project: mistakes after the model has spoken, whatever the model is.

The grammar stands for a model that is always right; what goes wrong is what is done with its words.
"""

from autograder.exercises.transformer import CHAPTER
from autograder.exercises.translation import translate

SEE = f"{CHAPTER}#mistake-translation"


def right(sentences):
    from autograder.reference.translation import translate as by_grammar  # here: a sandbox has none

    return by_grammar(sentences)


@translate.misconception(see=SEE)
def end_left_in(sentences):
    """Your translations end with `<eos>`; it tells the loop to stop and is no word of the sentence."""
    return [[*words, "<eos>"] for words in right(sentences)]


@translate.misconception(see=SEE)
def start_left_in(sentences):
    """The word `<bos>` stands first in your translations; it is what the decoder is fed, not what it says."""
    return [["<bos>", *words] for words in right(sentences)]


@translate.misconception(see=SEE)
def both_ends_left_in(sentences):
    """Your translations still have `<bos>` and `<eos>` around them; cut both off before the numbers become words."""
    return [["<bos>", *words, "<eos>"] for words in right(sentences)]


@translate.misconception(see=SEE)
def padding_left_in(sentences):
    """Short translations are filled with `<pad>` up to the longest of the batch; the filling is no part of them."""
    said = right(sentences)
    longest = max(map(len, said))
    return [words + ["<pad>"] * (longest - len(words)) for words in said]


@translate.misconception(see=SEE)
def filled_with_the_end(sentences):
    """Short translations are filled with `<eos>` up to the longest of the batch; cut each at its first one."""
    said = right(sentences)
    longest = max(map(len, said))
    return [words + ["<eos>"] * (longest + 1 - len(words)) for words in said]


@translate.misconception(see=SEE)
def source_returned(sentences):
    """You return the English sentences; the decoder's words are the French ones."""
    return [list(words) for words in sentences]


@translate.misconception(see=SEE)
def backwards(sentences):
    """Each translation stands in reverse order: a new word belongs behind those that were said before."""
    return [words[::-1] for words in right(sentences)]


@translate.misconception(see=SEE)
def first_word_lost(sentences):
    """The first word of each translation is missing: the start token was cut off where it had been cut off already."""
    return [words[1:] for words in right(sentences)]


@translate.misconception(see=SEE)
def last_word_lost(sentences):
    """The last word of each translation is missing: it was cut off in place of the end token."""
    return [words[:-1] for words in right(sentences)]


@translate.misconception(see=SEE)
def only_the_first_sentence(sentences):
    """You translate the first sentence of the batch and leave the others out."""
    return right(sentences[:1])


@translate.misconception(see=SEE)
def words_of_one_sentence_alone(sentences):
    """You return the words of the first translation; a list of such lists is asked for, one for each sentence."""
    return right(sentences[:1])[0]


@translate.misconception(see=SEE)
def one_text_a_sentence(sentences):
    """Each translation is one text with blanks in it; a list of its words is asked for."""
    return [" ".join(words) for words in right(sentences)]


@translate.misconception(see=SEE)
def all_in_one_list(sentences):
    """The words of all translations stand in one list; nobody can tell where a sentence ends."""
    return [word for words in right(sentences) for word in words]


@translate.misconception(see=SEE)
def left_in_order_of_length(sentences):
    """You sort by length, which saves padding, and return the translations in that order; put them back into yours."""
    return right(sorted(sentences, key=len))


@translate.misconception(see=SEE)
def longest_first(sentences):
    """You sort the longest to the front and return the translations in that order; put them back into the given one."""
    return right(sorted(sentences, key=len, reverse=True))
