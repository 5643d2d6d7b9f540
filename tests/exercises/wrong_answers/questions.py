"""Chapter 11: swiglu and PreLNEncoderLayer. Most slips are the reference with one part replaced."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference import questions, transformer
from autograder.reference.multi_head import MultiHeadAttention

# --- swiglu ----------------------------------------------------------------------------------------------------


def gated(bend):
    """The net with another function in place of silu."""
    return lambda x, w_gate, w_up, w_down: (bend(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


def inside(change):
    """`change(hidden)` before the last matrix."""
    return lambda x, w_gate, w_up, w_down: change(F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


def after_it(change):
    """`change(result, x)` at the end."""
    return lambda x, *weights: change(questions.swiglu(x, *weights), x)


def before_it(change):
    """`change(x)` at the start."""
    return lambda x, *weights: questions.swiglu(change(x), *weights)


def matrices_as_they_are(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate) * (x @ w_up)) @ w_down


def last_matrix_as_it_is(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down


def no_way_back(x, w_gate, w_up, w_down):
    return F.silu(x @ w_gate.T) * (x @ w_up.T)


def plain_net_with_relu(x, w_gate, w_up, w_down):
    return torch.relu(x @ w_up.T) @ w_down.T


def three_axes_only(x, w_gate, w_up, w_down):
    batch, seq, d_model = x.shape
    return questions.swiglu(x.reshape(batch * seq, d_model), w_gate, w_up, w_down).reshape(batch, seq, d_model)


def a_view(x, w_gate, w_up, w_down):
    return questions.swiglu(x.view(-1, x.size(-1)), w_gate, w_up, w_down).view(x.shape)


def gate_twice(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T) * (x @ w_gate.T)) @ w_down.T


def up_twice(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_up.T) * (x @ w_up.T)) @ w_down.T


def weights_detached(x, w_gate, w_up, w_down):
    return questions.swiglu(x, w_gate.detach(), w_up, w_down)


def gate_detached(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T).detach() * (x @ w_up.T)) @ w_down.T


def made_anew(x, w_gate, w_up, w_down):
    return torch.tensor(questions.swiglu(x, w_gate, w_up, w_down).tolist(), dtype=x.dtype)


def in_place(x, w_gate, w_up, w_down):
    x.data.mul_(2)
    return questions.swiglu(x / 2, w_gate, w_up, w_down) + 0


def in_place_with_weights(x, w_gate, w_up, w_down):
    w_up.data.neg_()
    return -questions.swiglu(x, w_gate, w_up, w_down)


SWIGLU = {
    "matrices not transposed": matrices_as_they_are,
    "last matrix not transposed": last_matrix_as_it_is,
    "no way back": no_way_back,
    "plain net with relu": plain_net_with_relu,
    "tanh": gated(torch.tanh),
    "softplus": gated(F.softplus),
    "mish": gated(F.mish),
    "elu": gated(F.elu),
    "selu": gated(F.selu),
    "leaky relu": gated(lambda a: F.leaky_relu(a, 0.1)),
    "hard swish": gated(F.hardswish),
    "quick gelu": gated(lambda a: a * torch.sigmoid(1.702 * a)),
    "gelu with tanh": gated(lambda a: F.gelu(a, approximate="tanh")),
    "softmax": gated(lambda a: torch.softmax(a, dim=-1)),
    "sigmoid of the negative": gated(lambda a: a * torch.sigmoid(-a)),
    "silu twice": gated(lambda a: F.silu(F.silu(a))),
    "one added to the gate": gated(lambda a: 1 + F.silu(a)),
    "half of it": gated(lambda a: a * torch.sigmoid(a) / 2),
    "gate twice": gate_twice,
    "up twice": up_twice,
    "divided by the root of d_ff": inside(lambda hidden: hidden / hidden.size(-1) ** 0.5),
    "normalised inside": inside(lambda hidden: F.layer_norm(hidden, hidden.shape[-1:])),
    "dropout inside": inside(lambda hidden: F.dropout(hidden, 0.1)),
    "relu inside": inside(torch.relu),
    "x added": after_it(lambda y, x: x + y),
    "bent at the end": after_it(lambda y, x: F.silu(y)),
    "always float32": after_it(lambda y, x: y.float()),
    "float32 on the way": before_it(lambda x: x.float().to(x.dtype)),
    "detached": after_it(lambda y, x: y.detach()),
    "axes flattened": after_it(lambda y, x: y.reshape(-1, y.size(-1))),
    "x normalised": before_it(lambda x: F.layer_norm(x, x.shape[-1:])),
    "three axes only": three_axes_only,
    "a view": a_view,
    "weights detached": weights_detached,
    "gate detached": gate_detached,
    "made anew": made_anew,
    "x changed in place": in_place,
    "weights changed in place": in_place_with_weights,
}

# --- PreLNEncoderLayer -----------------------------------------------------------------------------------------

LAYER = questions.PreLNEncoderLayer


def layer(forward):
    """PreLNEncoderLayer with `forward(self, x, mask)` for its own."""
    class PreLNEncoderLayer(LAYER):
        def forward(self, x, mask=None):
            return forward(self, x, mask)

    return PreLNEncoderLayer


def prepared(prepare):
    """The reference, after `prepare(self, d_model, num_heads, d_ff)` in its constructor."""
    class Prepared(LAYER):
        def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
            super().__init__(d_model, num_heads, d_ff, dropout)
            prepare(self, d_model, num_heads, d_ff)

    return Prepared


def attended(self, x, mask):
    return self.self_attn(x, x, x, mask)[0]


def thought(self, x):
    """The second half, which is right."""
    return x + self.dropout(self.ffn(self.norm2(x)))


def first(change):
    """`change(self, x, mask)` for the first half, the second as it should be."""
    return layer(lambda self, x, mask: thought(self, change(self, x, mask)))


def second(change):
    """The first half as it should be, `change(self, x)` for the second."""
    return layer(lambda self, x, mask: change(self, x + self.dropout(attended(self, self.norm1(x), mask))))


def read(query, key, value):
    """Which of (x, the normalised x) attention reads in its three places."""
    def half(self, x, mask):
        both = x, self.norm1(x)
        return x + self.self_attn(both[query], both[key], both[value], mask)[0]

    return first(half)


def other_mask(change):
    return layer(lambda self, x, mask: LAYER.forward(self, x, None if mask is None else change(mask)))


def net_first(self, x, mask):
    x = x + self.ffn(self.norm2(x))
    return x + attended(self, self.norm1(x), mask)


def weights_too(self, x, mask):
    y = self.norm1(x)
    return LAYER.forward(self, x, mask), self.self_attn(y, y, y, mask)[1]


class MaskRequired(LAYER):
    def forward(self, x, mask):
        return super().forward(x, mask)


class MaskOfTorch(LAYER):
    """Its own parameter names, torch's polarity."""

    def forward(self, x, src_key_padding_mask=None):
        mask = None if src_key_padding_mask is None else ~src_key_padding_mask.flatten(1)[:, None, None]
        return super().forward(x, mask)


def torchs(d_model, num_heads, d_ff, dropout=0.1):
    return nn.TransformerEncoderLayer(d_model, num_heads, d_ff, dropout, batch_first=True, norm_first=True)


def gelu_inside(self, d_model, num_heads, d_ff):
    self.ffn.activation = F.gelu


def one_norm(self, d_model, num_heads, d_ff):
    self.norm2 = self.norm1


def a_last_norm(self, d_model, num_heads, d_ff):
    self.norm3 = transformer.LayerNorm(d_model)


def other_eps(self, d_model, num_heads, d_ff):
    self.norm1.eps = self.norm2.eps = 1e-2


def never_dropped(self, d_model, num_heads, d_ff):
    for part in self.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0


PRE_LN = {
    "the class of torch": torchs,
    "only keys and values normalised": read(0, 1, 1),
    "only the keys normalised": read(0, 1, 0),
    "only the values normalised": read(0, 0, 1),
    "values as they are": read(1, 1, 0),
    "keys as they are": read(1, 0, 1),
    "sublayer subtracted": first(lambda self, x, mask: x - attended(self, self.norm1(x), mask)),
    "input doubled": first(lambda self, x, mask: 2 * x + attended(self, self.norm1(x), mask)),
    "half of the sum": first(lambda self, x, mask: x + 0.5 * attended(self, self.norm1(x), mask)),
    "product for the sum": first(lambda self, x, mask: x * attended(self, self.norm1(x), mask)),
    "normalised twice": first(lambda self, x, mask: x + attended(self, self.norm1(self.norm1(x)), mask)),
    "normalised before and after": first(
        lambda self, x, mask: x + self.norm1(attended(self, self.norm1(x), mask))),
    "first half Post-LN": first(lambda self, x, mask: self.norm1(x + attended(self, x, mask))),
    "second half Post-LN": second(lambda self, x: self.norm2(x + self.ffn(x))),
    "nothing added to attention": first(lambda self, x, mask: attended(self, self.norm1(x), mask)),
    "nothing added to the net": second(lambda self, x: self.ffn(self.norm2(x))),
    "normalised x carried on in the first half": first(
        lambda self, x, mask: self.norm1(x) + attended(self, self.norm1(x), mask)),
    "normalised x carried on in the second half": second(lambda self, x: self.norm2(x) + self.ffn(self.norm2(x))),
    "net normalised afterwards": second(lambda self, x: x + self.norm2(self.ffn(x))),
    "no net": second(lambda self, x: x + 0 * self.ffn(self.norm2(x))),
    "no attention": first(lambda self, x, mask: x + 0 * attended(self, self.norm1(x), mask)),
    "relu at the end": layer(lambda self, x, mask: torch.relu(LAYER.forward(self, x, mask))),
    "never normalised": layer(lambda self, x, mask: x + attended(self, x, mask) + self.ffn(
        x + attended(self, x, mask))),
    "net first": layer(net_first),
    "weights too": layer(weights_too),
    "mask of the first sentence": other_mask(lambda mask: mask[:1].expand_as(mask)),
    "mask shifted": other_mask(lambda mask: mask.roll(1, -1)),
    "mask along the queries": other_mask(lambda mask: mask.mT & mask.any()),
    "causal as well": other_mask(lambda mask: mask & torch.ones(2 * mask.shape[-1:], dtype=torch.bool).tril()),
    "hidden tokens set to zero": layer(lambda self, x, mask: LAYER.forward(self, x, mask) * (
        1 if mask is None else mask[:, 0, 0].unsqueeze(-1))),
    "mask required": MaskRequired,
    "mask of torch": MaskOfTorch,
    "input detached": layer(lambda self, x, mask: LAYER.forward(self, x.detach(), mask)),
    "straight way detached": first(lambda self, x, mask: x.detach() + attended(self, self.norm1(x), mask)),
    "in place": layer(lambda self, x, mask: LAYER.forward(self, x, mask) + 0 * x.data.add_(1)),
    "always float32": layer(lambda self, x, mask: LAYER.forward(self, x, mask).float()),
    "float32 on the way": layer(lambda self, x, mask: LAYER.forward(self, x, mask).float().to(x.dtype)),
    "dropout in eval mode": layer(lambda self, x, mask: F.dropout(LAYER.forward(self, x, mask), 0.1)),
    "dropout on the sum": layer(lambda self, x, mask: F.dropout(LAYER.forward(self, x, mask), 0.5)),
    "gelu": prepared(gelu_inside),
    "one norm for both names": prepared(one_norm),
    "a last norm": prepared(a_last_norm),
    "another eps": prepared(other_eps),
    "never dropped": prepared(never_dropped),
    "always one head": prepared(lambda self, d_model, *_: setattr(
        self, "self_attn", MultiHeadAttention(d_model, 1, self.dropout.p))),
    "width of its own": prepared(lambda self, d_model, *_: setattr(
        self, "ffn", transformer.FeedForward(d_model, 4 * d_model, self.dropout.p))),
    "norms without parameters": prepared(lambda self, d_model, *_: [setattr(
        self, f"norm{i}", nn.LayerNorm(d_model, elementwise_affine=False)) for i in (1, 2)]),
}

WRONG = {"swiglu": SWIGLU, "PreLNEncoderLayer": PRE_LN}

NAMED = {("PreLNEncoderLayer", "never dropped"): "layer_without_dropout",
         ("PreLNEncoderLayer", "mask of torch"): "mask_turned_around"}
