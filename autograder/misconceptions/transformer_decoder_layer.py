"""Chapter 08: the mistakes that are named in DecoderLayer, each a wrong module that stands alone."""

import torch
from torch import nn

from autograder.exercises.transformer import CHAPTER, decoder_layer
from autograder.reference.multi_head import MultiHeadAttention
from autograder.reference.transformer import FeedForward, LayerNorm


class _Decoder(nn.Module):
    """What the wrong layers below have in common: all is right, and each of them replaces one part."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2, self.norm3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x, tgt_mask):
        return self.dropout(self.self_attn(x, x, x, tgt_mask)[0])

    def look(self, x, enc_out, src_mask):
        return self.dropout(self.cross_attn(x, enc_out, enc_out, src_mask)[0])

    def think(self, x):
        return self.dropout(self.ffn(x))

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        x = self.norm1(x + self.attend(x, tgt_mask))
        x = self.norm2(x + self.look(x, enc_out, src_mask))
        return self.norm3(x + self.think(x))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-cross-attention")
class source_asks_the_target(_Decoder):
    """In cross-attention your queries come from the encoder; the decoder asks, the encoder's output is looked up."""

    def look(self, x, enc_out, src_mask):
        return self.dropout(self.cross_attn(enc_out, x, x, src_mask)[0])


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-cross-attention")
class source_never_read(_Decoder):
    """Your cross-attention looks at the target again; its keys and values are the encoder's output."""

    def look(self, x, enc_out, src_mask):
        return self.dropout(self.cross_attn(x, x, x)[0])


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-cross-attention")
class values_from_the_target(_Decoder):
    """In cross-attention your keys are the encoder's output, your values are not; both come from the encoder."""

    def look(self, x, enc_out, src_mask):
        return self.dropout(self.cross_attn(x, enc_out, x, src_mask)[0])


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-cross-attention")
class source_before_target(_Decoder):
    """You look at the source first and at the target after it; self-attention comes first."""

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        x = self.norm1(x + self.look(x, enc_out, src_mask))
        x = self.norm2(x + self.attend(x, tgt_mask))
        return self.norm3(x + self.think(x))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-cross-attention")
class one_attention_for_both(_Decoder):
    """You look at the source with the weights of self_attn; cross_attn has its own."""

    def look(self, x, enc_out, src_mask):
        return self.dropout(self.self_attn(x, enc_out, enc_out, src_mask)[0])


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-cross-attention")
class attentions_changed_over(_Decoder):
    """Your self_attn reads the source and your cross_attn the target; it is the other way round."""

    def attend(self, x, tgt_mask):
        return self.dropout(self.cross_attn(x, x, x, tgt_mask)[0])

    def look(self, x, enc_out, src_mask):
        return self.dropout(self.self_attn(x, enc_out, enc_out, src_mask)[0])


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-two-masks")
class masks_changed_over(_Decoder):
    """Self-attention gets the source's mask, cross-attention the target's: see the order of arguments, and the keys."""

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        return super().forward(x, enc_out, tgt_mask, src_mask)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-two-masks")
class future_read(_Decoder):
    """You do not pass tgt_mask to self-attention, so a token reads those that come after it."""

    def attend(self, x, tgt_mask):
        return super().attend(x, None)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-two-masks")
class padding_of_the_source_read(_Decoder):
    """You do not pass src_mask to cross-attention, so the padding of the source is read."""

    def look(self, x, enc_out, src_mask):
        return super().look(x, enc_out, None)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-two-masks")
class decoder_masks_turned_around(_Decoder):
    """You turn both masks around: True means that a token may be read."""

    def attend(self, x, tgt_mask):
        return super().attend(x, None if tgt_mask is None else ~tgt_mask)

    def look(self, x, enc_out, src_mask):
        return super().look(x, enc_out, None if src_mask is None else ~src_mask)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-two-masks")
class causal_in_any_case(_Decoder):
    """You make a causal mask yourself where none is given; without tgt_mask every token may be read."""

    def attend(self, x, tgt_mask):
        causal = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
        return super().attend(x, causal if tgt_mask is None else tgt_mask)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-residual")
class no_sums_in_the_decoder(_Decoder):
    """You normalise what the sublayers give; what went into each of them is added first."""

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        x = self.norm1(self.attend(x, tgt_mask))
        x = self.norm2(self.look(x, enc_out, src_mask))
        return self.norm3(self.think(x))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-residual")
class nothing_added_to_cross_attention(_Decoder):
    """Around cross-attention you do not add what went in; all three sublayers have the sum."""

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        x = self.norm1(x + self.attend(x, tgt_mask))
        x = self.norm2(self.look(x, enc_out, src_mask))
        return self.norm3(x + self.think(x))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-residual")
class first_input_added_everywhere(_Decoder):
    """You add the layer's first input each time; added is what went into that very sublayer."""

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        y = self.norm1(x + self.attend(x, tgt_mask))
        y = self.norm2(x + self.look(y, enc_out, src_mask))
        return self.norm3(x + self.think(y))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class normalised_before_each_sublayer(_Decoder):
    """You normalise what goes into a sublayer (Pre-LN); here the sum that comes out of it is normalised (Post-LN)."""

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        x = x + self.attend(self.norm1(x), tgt_mask)
        x = x + self.look(self.norm2(x), enc_out, src_mask)
        return x + self.think(self.norm3(x))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class second_and_third_norm_changed_over(_Decoder):
    """Two norms are changed over: norm2 comes after cross-attention, norm3 after the feed-forward net."""

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        x = self.norm1(x + self.attend(x, tgt_mask))
        x = self.norm3(x + self.look(x, enc_out, src_mask))
        return self.norm2(x + self.think(x))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class decoder_dropout_not_passed_on(_Decoder):
    """Your parts keep their own dropout of 0.1; pass the layer's `dropout` on to them."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, 0.1)
        self.dropout = nn.Dropout(dropout)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_not_passed_to_the_attentions(_Decoder):
    """Your two attentions keep their own dropout of 0.1; pass the layer's `dropout` on to both."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.self_attn, self.cross_attn = (MultiHeadAttention(d_model, num_heads) for _ in range(2))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_not_passed_to_self_attention(_Decoder):
    """Your self_attn keeps its own dropout of 0.1; pass the layer's `dropout` on to it."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.self_attn = MultiHeadAttention(d_model, num_heads)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_not_passed_to_cross_attention(_Decoder):
    """Your cross_attn keeps its own dropout of 0.1; pass the layer's `dropout` on to it."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.cross_attn = MultiHeadAttention(d_model, num_heads)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_not_passed_to_the_feed_forward_net(_Decoder):
    """Your feed-forward net keeps its own dropout of 0.1; pass the layer's `dropout` on to it."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.ffn = FeedForward(d_model, d_ff)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class decoder_sublayers_dropped_at_a_fixed_rate(_Decoder):
    """The dropout around your sublayers always drops a tenth; the constructor says how much."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
        self.dropout = nn.Dropout(0.1)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-dropout")
class decoder_sublayers_dropped_in_eval_mode_too(_Decoder):
    """The dropout around your sublayers acts in eval mode as well: `F.dropout` does so unless told `self.training`."""

    def attend(self, x, tgt_mask):
        return nn.functional.dropout(self.self_attn(x, x, x, tgt_mask)[0], self.dropout.p)

    def look(self, x, enc_out, src_mask):
        return nn.functional.dropout(self.cross_attn(x, enc_out, enc_out, src_mask)[0], self.dropout.p)

    def think(self, x):
        return nn.functional.dropout(self.ffn(x), self.dropout.p)


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-cross-attention")
class first_input_asks(_Decoder):
    """Your cross-attention asks with the layer's first input; it asks with what self-attention has made of it."""

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        y = self.norm1(x + self.attend(x, tgt_mask))
        y = self.norm2(y + self.look(x, enc_out, src_mask))
        return self.norm3(y + self.think(y))


@decoder_layer.misconception(see=f"{CHAPTER}#mistake-norm-place")
class source_normalised_again(_Decoder):
    """You normalise enc_out before you look at it; it comes out of a norm, and is read as it is."""

    def look(self, x, enc_out, src_mask):
        return super().look(x, self.norm2(enc_out), src_mask)
