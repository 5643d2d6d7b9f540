"""Chapter 08: EncoderLayer and DecoderLayer. Most slips are the reference with one part replaced."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference import transformer
from autograder.reference.multi_head import MultiHeadAttention

ENCODER, DECODER = transformer.EncoderLayer, transformer.DecoderLayer


def encoder(forward):
    """EncoderLayer with `forward(self, x, mask)` for its own."""
    class EncoderLayer(ENCODER):
        def forward(self, x, mask=None):
            return forward(self, x, mask)

    return EncoderLayer


def decoder(forward):
    """DecoderLayer with `forward(self, x, enc_out, src_mask, tgt_mask)` for its own."""
    class DecoderLayer(DECODER):
        def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
            return forward(self, x, enc_out, src_mask, tgt_mask)

    return DecoderLayer


def prepared(kind, prepare):
    """The reference, after `prepare(self, d_model, num_heads, d_ff)` in its constructor."""
    class Prepared(kind):
        def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
            super().__init__(d_model, num_heads, d_ff, dropout)
            prepare(self, d_model, num_heads, d_ff)

    return Prepared


def attended(self, x, mask):
    return self.self_attn(x, x, x, mask)[0]


def looked(self, x, enc_out, mask):
    return self.cross_attn(x, enc_out, enc_out, mask)[0]


def encoded(first, second):
    """EncoderLayer from its two halves: `first(self, x, attended)` and `second(self, x, the net's result)`."""
    def forward(self, x, mask):
        x = first(self, x, attended(self, x, mask))
        return second(self, x, self.ffn(x))

    return encoder(forward)


def after(number):
    return lambda self, x, y: getattr(self, f"norm{number}")(x + self.dropout(y))


def other_mask(change):
    return encoder(lambda self, x, mask: ENCODER.forward(self, x, None if mask is None else change(mask)))


class MaskRequired(ENCODER):
    def forward(self, x, mask):
        return super().forward(x, mask)


def without_second_norm(self, d_model, num_heads, d_ff):
    self.norm2 = self.norm1


def no_second_norm(self, d_model, num_heads, d_ff):
    self.norm2 = nn.Identity()


def another_name(self, d_model, num_heads, d_ff):
    self.feed_forward = self.ffn
    del self._modules["ffn"]
    type(self).ffn = property(lambda module: module.feed_forward)


def fixed_width(self, d_model, num_heads, d_ff):
    self.ffn = transformer.FeedForward(d_model, 4 * d_model, self.dropout.p)


def one_head(self, d_model, num_heads, d_ff):
    self.self_attn = MultiHeadAttention(d_model, 1, self.dropout.p)


def more_eps(self, d_model, num_heads, d_ff):
    self.norm1.eps = self.norm2.eps = 1e-2


def doubled(self, x, y):
    return self.norm1(2 * x + self.dropout(y))


ENCODER_LAYER = {
    "sublayer subtracted": encoded(lambda self, x, y: self.norm1(x - self.dropout(y)), after(2)),
    "input doubled": encoded(doubled, after(2)),
    "half of the sum": encoded(lambda self, x, y: self.norm1(x + 0.5 * y), after(2)),
    "product for the sum": encoded(lambda self, x, y: self.norm1(x * y), after(2)),
    "normalised twice": encoded(lambda self, x, y: self.norm1(self.norm1(x + y)), after(2)),
    "normalised before and after": encoder(lambda self, x, mask: ENCODER.forward(self, self.norm1(x), mask)),
    "result added to the input": encoder(lambda self, x, mask: x + ENCODER.forward(self, x, mask)),
    "relu at the end": encoder(lambda self, x, mask: torch.relu(ENCODER.forward(self, x, mask))),
    "no feed-forward net": encoder(lambda self, x, mask: self.norm1(x + attended(self, x, mask))),
    "net twice": encoder(lambda self, x, mask: after(2)(
        self, ENCODER.forward(self, x, mask), self.ffn(ENCODER.forward(self, x, mask)))),
    "attention of the normalised, sum of the raw": encoder(lambda self, x, mask: after(2)(
        self, x + attended(self, self.norm1(x), mask), self.ffn(x + attended(self, self.norm1(x), mask)))),
    "both side by side": encoder(lambda self, x, mask: self.norm2(
        x + attended(self, x, mask) + self.ffn(x)) + 0 * self.norm1(x)),
    "values are not projected": encoder(lambda self, x, mask: after(2)(self, self.norm1(
        x + self.self_attn.W_o(self.self_attn(x, x, x, mask)[1].mean(1) @ x)), self.ffn(x))),
    "first token only": encoder(lambda self, x, mask: ENCODER.forward(
        self, x[:, :1].expand_as(x), mask)),
    "reversed": encoder(lambda self, x, mask: ENCODER.forward(self, x.flip(1), mask).flip(1)),
    "mask of the first sentence": other_mask(lambda mask: mask[:1].expand_as(mask)),
    "mask shifted": other_mask(lambda mask: mask.roll(1, -1)),
    "causal as well": other_mask(lambda mask: mask & torch.ones(2 * mask.shape[-1:], dtype=torch.bool).tril()),
    "hidden tokens set to zero": encoder(lambda self, x, mask: ENCODER.forward(self, x, mask) * (
        1 if mask is None else mask[:, 0, 0].unsqueeze(-1))),
    "everything hidden without a mask": encoder(lambda self, x, mask: ENCODER.forward(
        self, x, torch.zeros(1, 1, 1, x.size(1), dtype=torch.bool) if mask is None else mask)),
    "mask required": MaskRequired,
    "input detached": encoder(lambda self, x, mask: ENCODER.forward(self, x.detach(), mask)),
    "attention detached": encoded(lambda self, x, y: self.norm1(x + y.detach()), after(2)),
    "in place": encoder(lambda self, x, mask: ENCODER.forward(self, x, mask) + 0 * x.data.add_(1)),
    "float32 inside": encoder(lambda self, x, mask: ENCODER.forward(self, x, mask).float().to(x.dtype)),
    "always float32": encoder(lambda self, x, mask: ENCODER.forward(self, x, mask).float()),
    "dropout in eval mode": encoder(lambda self, x, mask: F.dropout(ENCODER.forward(self, x, mask), 0.1)),
    "batch norm": prepared(ENCODER, lambda self, d, *_: setattr(self, "norm1", nn.BatchNorm1d(d))),
    "one norm for both names": prepared(ENCODER, without_second_norm),
    "second norm left out": prepared(ENCODER, no_second_norm),
    "another name": prepared(ENCODER, another_name),
    "width of its own": prepared(ENCODER, fixed_width),
    "always one head": prepared(ENCODER, one_head),
    "another eps": prepared(ENCODER, more_eps),
    "a learned scale": prepared(ENCODER, lambda self, *_: setattr(self, "scale", nn.Parameter(torch.ones(1)))),
}


def in_order(*steps):
    """DecoderLayer whose sublayers come in the given order; norm1, norm2 and norm3 stand in theirs."""
    def forward(self, x, enc_out, src_mask, tgt_mask):
        sublayers = {"self": lambda y: attended(self, y, tgt_mask), "net": self.ffn,
                     "cross": lambda y: looked(self, y, enc_out, src_mask)}
        for number, step in enumerate(steps, 1):
            x = after(number)(self, x, sublayers[step](x))
        return x

    return decoder(forward)


def memory(change):
    """DecoderLayer that reads another source: `change(self, enc_out, x)`."""
    return decoder(lambda self, x, enc_out, src, tgt: DECODER.forward(self, x, change(self, enc_out, x), src, tgt))


def raw_queries(self, x, enc_out, src_mask, tgt_mask):
    y = self.norm1(x + attended(self, x, tgt_mask))
    y = self.norm2(y + looked(self, x, enc_out, src_mask))
    return self.norm3(y + self.ffn(y))


def side_by_side(self, x, enc_out, src_mask, tgt_mask):
    y = self.norm1(x + attended(self, x, tgt_mask) + looked(self, x, enc_out, src_mask)) + 0 * self.norm2(x)
    return self.norm3(y + self.ffn(y))


def both_in_one(self, x, enc_out, src_mask, tgt_mask):
    """Keys of target and source in one attention."""
    both = torch.cat([x, enc_out], dim=1)
    y = self.norm1(x + self.self_attn(x, both, both)[0])
    y = self.norm2(y + looked(self, y, enc_out, src_mask))
    return self.norm3(y + self.ffn(y))


def tgt_twice(self, x, enc_out, src_mask, tgt_mask):
    y = self.norm1(x + attended(self, x, tgt_mask))
    y = self.norm2(y + attended(self, y, tgt_mask))
    return self.norm3(y + self.ffn(y))


def with_masks(change):
    return decoder(lambda self, x, enc_out, src, tgt: DECODER.forward(self, x, enc_out, *change(src, tgt)))


class MasksRequired(DECODER):
    def forward(self, x, enc_out, src_mask, tgt_mask):
        return super().forward(x, enc_out, src_mask, tgt_mask)


class MasksInAnotherOrder(DECODER):
    def forward(self, x, enc_out, tgt_mask=None, src_mask=None):
        return super().forward(x, enc_out, src_mask, tgt_mask)


def shared_norms(self, *_):
    self.norm3 = self.norm2


def shared_attention(self, *_):
    self.cross_attn = self.self_attn


def two_of_three(self, x, enc_out, src_mask, tgt_mask):
    x = self.norm1(x + attended(self, x, tgt_mask))
    x = x + looked(self, x, enc_out, src_mask)
    return self.norm3(x + self.ffn(x)) + 0 * self.norm2(x)


def attention_alone(*names):
    """The attentions of these names are built without the layer's dropout."""
    def prepare(self, d_model, num_heads, d_ff):
        for name in names:
            setattr(self, name, MultiHeadAttention(d_model, num_heads))

    return prepare


def net_alone(self, d_model, num_heads, d_ff):
    self.ffn = transformer.FeedForward(d_model, d_ff)


def tenth(self, *_):
    self.dropout = nn.Dropout(0.1)


ENCODER_LAYER |= {
    "dropout not for attention": prepared(ENCODER, attention_alone("self_attn")),
    "dropout not for the net": prepared(ENCODER, net_alone),
    "dropout of a tenth": prepared(ENCODER, tenth),
    "net, then attention": encoder(lambda self, x, mask: after(2)(
        self, after(1)(self, x, self.ffn(x)), attended(self, after(1)(self, x, self.ffn(x)), mask))),
}

DECODER_LAYER = {
    "dropout not for self-attention": prepared(DECODER, attention_alone("self_attn")),
    "dropout not for cross-attention": prepared(DECODER, attention_alone("cross_attn")),
    "dropout not for the attentions": prepared(DECODER, attention_alone("self_attn", "cross_attn")),
    "dropout not for the net": prepared(DECODER, net_alone),
    "dropout of a tenth": prepared(DECODER, tenth),
    "net in the middle": in_order("self", "net", "cross"),
    "net first": in_order("net", "self", "cross"),
    "cross-attention last": in_order("net", "cross", "self"),
    "no net": in_order("self", "cross"),
    "no cross-attention": in_order("self", "net"),
    "no self-attention": in_order("cross", "net"),
    "raw queries": decoder(raw_queries),
    "side by side": decoder(side_by_side),
    "both in one": decoder(both_in_one),
    "target twice": decoder(tgt_twice),
    "second norm left out": decoder(two_of_three),
    "source normalised": memory(lambda self, enc_out, x: self.norm2(enc_out)),
    "source averaged": memory(lambda self, enc_out, x: enc_out.mean(1, keepdim=True).expand_as(enc_out)),
    "source reversed": memory(lambda self, enc_out, x: enc_out.flip(1)),
    "source detached": memory(lambda self, enc_out, x: enc_out.detach()),
    "source of the other sentence": memory(lambda self, enc_out, x: enc_out.flip(0)),
    "source through the net": memory(lambda self, enc_out, x: self.ffn(enc_out)),
    "target detached": decoder(lambda self, x, enc_out, src, tgt: DECODER.forward(
        self, x.detach(), enc_out, src, tgt)),
    "source mask turned around": with_masks(lambda src, tgt: (None if src is None else ~src, tgt)),
    "target mask turned around": with_masks(lambda src, tgt: (src, None if tgt is None else ~tgt)),
    "target mask transposed": with_masks(lambda src, tgt: (src, None if tgt is None else tgt.mT)),
    "target mask without the diagonal": with_masks(lambda src, tgt: (src, None if tgt is None else tgt.tril(-1))),
    "target mask shifted": with_masks(lambda src, tgt: (src, None if tgt is None else tgt.tril(1) | tgt.roll(1, 1))),
    "source mask of the first sentence": with_masks(lambda src, tgt: (
        None if src is None else src[:1].expand_as(src), tgt)),
    "no masks": with_masks(lambda src, tgt: (None, None)),
    "masks required": MasksRequired,
    "masks in another order": MasksInAnotherOrder,
    "in place on x": decoder(lambda self, x, enc_out, src, tgt: DECODER.forward(
        self, x, enc_out, src, tgt) + 0 * x.data.add_(1)),
    "in place on the source": decoder(lambda self, x, enc_out, src, tgt: DECODER.forward(
        self, x, enc_out, src, tgt) + 0 * enc_out.data.add_(1).sum()),
    "float32 inside": decoder(lambda self, x, *rest: DECODER.forward(self, x, *rest).float().to(x.dtype)),
    "always float32": decoder(lambda self, x, *rest: DECODER.forward(self, x, *rest).float()),
    "dropout in eval mode": decoder(lambda self, x, *rest: F.dropout(DECODER.forward(self, x, *rest), 0.1)),
    "no dropout": prepared(DECODER, lambda self, *_: [
        setattr(part, "p", 0.0) for part in self.modules() if isinstance(part, nn.Dropout)]),
    "result added to the input": decoder(lambda self, x, *rest: x + DECODER.forward(self, x, *rest)),
    "pair returned": decoder(lambda self, x, enc_out, *masks: (DECODER.forward(self, x, enc_out, *masks), enc_out)),
    "one norm for two names": prepared(DECODER, shared_norms),
    "one attention for two names": prepared(DECODER, shared_attention),
    "another eps": prepared(DECODER, lambda self, *_: setattr(self.norm3, "eps", 1e-2)),
    "a learned scale": prepared(DECODER, lambda self, *_: setattr(self, "scale", nn.Parameter(torch.ones(1)))),
}

WRONG = {"EncoderLayer": ENCODER_LAYER, "DecoderLayer": DECODER_LAYER}

NAMED = {
    ("EncoderLayer", "dropout not for attention"): "dropout_not_passed_to_attention",
    ("EncoderLayer", "dropout not for the net"): "dropout_not_passed_to_the_net",
    ("EncoderLayer", "dropout of a tenth"): "sublayers_dropped_at_a_fixed_rate",
    ("EncoderLayer", "net, then attention"): "net_before_attention",
    ("DecoderLayer", "dropout not for self-attention"): "dropout_not_passed_to_self_attention",
    ("DecoderLayer", "dropout not for cross-attention"): "dropout_not_passed_to_cross_attention",
    ("DecoderLayer", "dropout not for the attentions"): "dropout_not_passed_to_the_attentions",
    ("DecoderLayer", "dropout not for the net"): "dropout_not_passed_to_the_feed_forward_net",
    ("DecoderLayer", "dropout of a tenth"): "decoder_sublayers_dropped_at_a_fixed_rate",
    ("DecoderLayer", "masks in another order"): "masks_changed_over",
    ("DecoderLayer", "raw queries"): "first_input_asks",
    ("DecoderLayer", "source normalised"): "source_normalised_again",
}
