"""Chapter 08: the mistakes that are named in EncoderLayer, each a wrong module that stands alone."""

from torch import nn

from autograder.exercises.transformer import CHAPTER, encoder_layer
from autograder.reference.multi_head import MultiHeadAttention
from autograder.reference.transformer import FeedForward, LayerNorm


class _Encoder(nn.Module):
    """What the wrong layers below have in common: all is right, and each of them replaces one part."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x, mask):
        return self.dropout(self.self_attn(x, x, x, mask)[0])

    def think(self, x):
        return self.dropout(self.ffn(x))

    def forward(self, x, mask=None):
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.think(x))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-residual")
class nothing_added(_Encoder):
    """You normalise what the sublayers give; what went into each of them is added first."""

    def forward(self, x, mask=None):
        x = self.norm1(self.attend(x, mask))
        return self.norm2(self.think(x))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-residual")
class nothing_added_to_the_feed_forward_net(_Encoder):
    """Around attention you add what went in, around the feed-forward net you do not."""

    def forward(self, x, mask=None):
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(self.think(x))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-residual")
class first_input_added_twice(_Encoder):
    """To the feed-forward net you add the layer's first input; added is what went into that net."""

    def forward(self, x, mask=None):
        y = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.think(y))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class normalised_before_the_sublayer(_Encoder):
    """You normalise what goes into a sublayer (Pre-LN); here the sum that comes out of it is normalised (Post-LN)."""

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.think(self.norm2(x))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class normalised_before_the_sum(_Encoder):
    """You normalise the sublayer's result alone and then add; first add, then normalise the sum."""

    def forward(self, x, mask=None):
        x = x + self.norm1(self.attend(x, mask))
        return x + self.norm2(self.think(x))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class normalised_once(_Encoder):
    """You normalise at the end of the layer only; each of the two sums has a norm of its own."""

    def forward(self, x, mask=None):
        x = x + self.attend(x, mask)
        return self.norm2(x + self.think(x))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class never_normalised(_Encoder):
    """You add, and never normalise; LayerNorm stands around each sum."""

    def forward(self, x, mask=None):
        x = x + self.attend(x, mask)
        return x + self.think(x)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class one_norm_for_both(_Encoder):
    """You use norm1 after both sublayers; each has a norm with weights of its own."""

    def forward(self, x, mask=None):
        x = self.norm1(x + self.attend(x, mask))
        return self.norm1(x + self.think(x))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class norms_changed_over(_Encoder):
    """Your norms are changed over: norm1 comes after attention, norm2 after the feed-forward net."""

    def forward(self, x, mask=None):
        x = self.norm2(x + self.attend(x, mask))
        return self.norm1(x + self.think(x))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class feed_forward_first(_Encoder):
    """You run the feed-forward net first; attention comes first, with norm1."""

    def forward(self, x, mask=None):
        x = self.norm2(x + self.think(x))
        return self.norm1(x + self.attend(x, mask))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class net_before_attention(_Encoder):
    """You run the feed-forward net first, and attention after it; attention comes first."""

    def forward(self, x, mask=None):
        x = self.norm1(x + self.think(x))
        return self.norm2(x + self.attend(x, mask))


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-two-masks")
class padding_read(_Encoder):
    """You do not pass the mask on, so every token reads the padding as well."""

    def attend(self, x, mask):
        return super().attend(x, None)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-two-masks")
class encoder_mask_turned_around(_Encoder):
    """You turn the mask around: True means that a token may be read."""

    def attend(self, x, mask):
        return super().attend(x, None if mask is None else ~mask)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-stack")
class attention_weights_returned_too(_Encoder):
    """You return the attention weights as well; a layer gives x alone, so that layers can be stacked."""

    def forward(self, x, mask=None):
        return super().forward(x, mask), self.self_attn(x, x, x, mask)[1]


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class encoder_dropout_not_passed_on(_Encoder):
    """Your parts keep their own dropout of 0.1; pass the layer's `dropout` on to them."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, 0.1)
        self.dropout = nn.Dropout(dropout)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_not_passed_to_attention(_Encoder):
    """Your attention keeps its own dropout of 0.1; pass the layer's `dropout` on to it."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.self_attn = MultiHeadAttention(d_model, num_heads)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_not_passed_to_the_net(_Encoder):
    """Your feed-forward net keeps its own dropout of 0.1; pass the layer's `dropout` on to it."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.ffn = FeedForward(d_model, d_ff)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class sublayers_dropped_at_a_fixed_rate(_Encoder):
    """The dropout around your sublayers always drops a tenth; the constructor says how much."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.dropout = nn.Dropout(0.1)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class sublayers_dropped_in_eval_mode_too(_Encoder):
    """The dropout around your sublayers acts in eval mode as well: `F.dropout` does so unless told `self.training`."""

    def attend(self, x, mask):
        return nn.functional.dropout(self.self_attn(x, x, x, mask)[0], self.dropout.p)

    def think(self, x):
        return nn.functional.dropout(self.ffn(x), self.dropout.p)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class encoder_without_dropout(_Encoder):
    """Your layer has no dropout at all: in train mode two calls give the same."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, 0.0)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-stack")
class two_results_added(_Encoder):
    """Attention gives two results, output and weights, and you add the pair; `[0]` is the output."""

    def attend(self, x, mask):
        return self.self_attn(x, x, x, mask)


@encoder_layer.misconception(see=f"{CHAPTER}#mistake-stack")
class two_results_into_dropout(_Encoder):
    """Attention gives two results, output and weights, and dropout gets the pair; `[0]` is the output."""

    def attend(self, x, mask):
        return self.dropout(self.self_attn(x, x, x, mask))
