"""What is said of an answer that is made of parts: its parameters, its methods, and the parts that are wrong."""

import pytest
import torch

from autograder import judge
from autograder.reference import multi_head, transformer


class OneMore(multi_head.MultiHeadAttention):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.norm = torch.nn.LayerNorm(sizes[0])
        self.W_o = torch.nn.Linear(sizes[0], sizes[0], bias=False)


def test_of_parameters_the_difference_is_told():
    message = judge(OneMore, exercise="MultiHeadAttention").outcomes[0].message
    assert "too many: `norm.weight`, `norm.bias`; missing: `W_o.bias`." in message
    assert "W_q" not in message


def test_of_many_missing_parameters_the_first_are_told():
    class Transformer(torch.nn.Module):
        def __init__(self, *sizes):
            super().__init__()

        def forward(self, *tokens_and_masks):
            return 1

    message = judge(Transformer).outcomes[0].message
    assert "`src_emb.weight`" in message and len(message) < 500
    assert " more. Constructed with `src_vocab` 19, " in message


class Twice(transformer.FeedForward):
    def forward(self, x):
        return 2 * super().forward(x)


class AroundTwice(transformer.EncoderLayer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.ffn = Twice(d_model, d_ff, dropout)


@pytest.mark.parametrize("seed", [None, 3])
def test_a_part_that_is_wrong_by_itself_is_told(seed):
    assert judge(AroundTwice, seed=seed, exercise="EncoderLayer").broken == {"ffn": "FeedForward"}

    class Transformer(transformer.Transformer):
        def __init__(self, src_vocab, tgt_vocab, *sizes):
            super().__init__(src_vocab, tgt_vocab, *sizes)
            self.encoder[1] = AroundTwice(sizes[0], sizes[1], sizes[3])

    assert judge(Transformer, seed=seed).broken == {"encoder.1": "EncoderLayer"}


def test_of_a_layer_whose_parts_are_right_nothing_is_told():
    class EncoderLayer(transformer.EncoderLayer):
        def forward(self, x, mask=None):
            return 2 * super().forward(x, mask)

    assert judge(EncoderLayer).broken == {} and judge(transformer.EncoderLayer).broken == {}


class WrongMethods(transformer.Transformer):
    def encode(self, src, src_mask=None):
        return 2 * super().encode(src, src_mask)

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        return (seq != 1)[:, None, None, :]


def test_a_method_is_told_with_its_own_names():
    outcomes = {outcome.criterion: outcome for outcome in judge(WrongMethods, exercise="Transformer").outcomes}
    assert outcomes["encode_and_decode"].message.startswith("In `encode`: ")
    assert "`hidden`" in outcomes["encode_and_decode"].message
    assert outcomes["mask_makers"].message.startswith("In `make_pad_mask`: ")
    assert list(outcomes["mask_makers"].example.arguments) == ["seq"]
    assert list(outcomes["mask_makers"].example.results) == ["mask"]
    assert "`logits`" in outcomes["values"].message


class SixLayersEach(transformer.Transformer):
    def __init__(self, src_vocab, tgt_vocab, d_model, num_heads, num_layers, *sizes):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, 6, *sizes)


def test_static_methods_are_judged_by_themselves_and_parameters_are_told_once():
    outcomes = {outcome.criterion: outcome for outcome in judge(SixLayersEach, exercise="Transformer").outcomes}
    assert outcomes["mask_makers"].status == "passed"
    assert [name for name, o in outcomes.items() if "registers other parameters" in o.message] == ["values"]
