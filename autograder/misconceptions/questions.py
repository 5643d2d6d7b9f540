"""Chapter 11: the mistakes that are named in swiglu and PreLNEncoderLayer, each a wrong implementation."""

import torch
from torch import nn
from torch.nn import functional as F

from autograder.exercises.questions import CHAPTER, pre_ln, swiglu
from autograder.reference.multi_head import MultiHeadAttention
from autograder.reference.transformer import FeedForward, LayerNorm

# --- swiglu ----------------------------------------------------------------------------------------------------


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def sigmoid_for_silu(x, w_gate, w_up, w_down):
    """Your gate is a sigmoid (GLU); silu is its input times that sigmoid."""
    return (torch.sigmoid(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def relu_for_silu(x, w_gate, w_up, w_down):
    """Your gate is a ReLU (ReGLU); silu is smooth, and below zero it is not zero."""
    return (torch.relu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def gelu_for_silu(x, w_gate, w_up, w_down):
    """Your gate is a GELU (GEGLU); silu has the logistic sigmoid where GELU has the normal distribution."""
    return (F.gelu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def gate_not_bent(x, w_gate, w_up, w_down):
    """Your gate has no silu: a product of two linear maps alone."""
    return ((x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def silu_on_the_wrong_side(x, w_gate, w_up, w_down):
    """Your silu is around x w_up^T; it belongs to the gate, and w_up stays linear."""
    return ((x @ w_gate.T) * F.silu(x @ w_up.T)) @ w_down.T


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def silu_on_both(x, w_gate, w_up, w_down):
    """Both of your branches go through silu; only the gate does."""
    return (F.silu(x @ w_gate.T) * F.silu(x @ w_up.T)) @ w_down.T


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def silu_of_the_product(x, w_gate, w_up, w_down):
    """You multiply first and bend after it; the gate is bent first, then it multiplies."""
    return F.silu((x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def branches_added(x, w_gate, w_up, w_down):
    """You add the two branches; the gate multiplies what w_up gives."""
    return (F.silu(x @ w_gate.T) + x @ w_up.T) @ w_down.T


@swiglu.misconception(see=f"{CHAPTER}#mistake-gate")
def gate_alone(x, w_gate, w_up, w_down):
    """You leave w_up out: that is the plain net with silu, not a gated one."""
    return F.silu(x @ w_gate.T) @ w_down.T


# --- PreLNEncoderLayer -----------------------------------------------------------------------------------------


class _PreLN(nn.Module):
    """What the wrong layers below have in common: all is right, and each of them replaces one part."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def attend(self, y, mask):
        return self.dropout(self.self_attn(y, y, y, mask)[0])

    def think(self, y):
        return self.dropout(self.ffn(y))

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.think(self.norm2(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class normalised_after_the_sum(_PreLN):
    """You normalise the sums (Post-LN); here the norm stands in front of each sublayer."""

    def forward(self, x, mask=None):
        x = self.norm1(x + self.attend(x, mask))
        return self.norm2(x + self.think(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class normalised_x_carried_on(_PreLN):
    """You add to the normalised x; what is added to is x itself, which nothing touches on its way."""

    def forward(self, x, mask=None):
        x = self.norm1(x)
        x = x + self.attend(x, mask)
        x = self.norm2(x)
        return x + self.think(x)


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class sublayers_result_normalised(_PreLN):
    """You normalise what the sublayers give; normalised is what goes into them."""

    def forward(self, x, mask=None):
        x = x + self.norm1(self.attend(x, mask))
        return x + self.norm2(self.think(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class only_the_queries_normalised(_PreLN):
    """Your queries come from the normalised x, your keys and values from x; all three come from the normalised one."""

    def forward(self, x, mask=None):
        x = x + self.dropout(self.self_attn(self.norm1(x), x, x, mask)[0])
        return x + self.think(self.norm2(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class feed_forward_net_not_normalised(_PreLN):
    """Your norm stands before attention only; the feed-forward net has norm2 in front of it."""

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.think(x)


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class attention_not_normalised(_PreLN):
    """Your norm stands before the feed-forward net only; attention has norm1 in front of it."""

    def forward(self, x, mask=None):
        x = x + self.attend(x, mask)
        return x + self.think(self.norm2(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class normalised_at_the_end(_PreLN):
    """You normalise once more at the end; that norm belongs to the stack, after its last layer."""

    def forward(self, x, mask=None):
        return self.norm2(super().forward(x, mask))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class side_by_side(_PreLN):
    """Both of your sublayers read the layer's input; the feed-forward net reads the sum after attention."""

    def forward(self, x, mask=None):
        return x + self.attend(self.norm1(x), mask) + self.think(self.norm2(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class nothing_added(_PreLN):
    """Your sublayers' results replace x; they are added to it."""

    def forward(self, x, mask=None):
        x = self.attend(self.norm1(x), mask)
        return self.think(self.norm2(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class attention_lost(_PreLN):
    """The second sum adds the layer's input, so what attention gave gets lost on the straight way."""

    def forward(self, x, mask=None):
        y = x + self.attend(self.norm1(x), mask)
        return x + self.think(self.norm2(y))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class norms_changed_over(_PreLN):
    """Your norms are changed over: norm1 stands before attention, norm2 before the feed-forward net."""

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm2(x), mask)
        return x + self.think(self.norm1(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class one_norm_for_both(_PreLN):
    """You use norm1 in front of both sublayers; each has a norm with weights of its own."""

    def forward(self, x, mask=None):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.think(self.norm1(x))


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class padding_read(_PreLN):
    """You do not pass the mask on, so every token reads the padding as well."""

    def attend(self, y, mask):
        return super().attend(y, None)


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class mask_turned_around(_PreLN):
    """You turn the mask around: True means that a token may be read."""

    def attend(self, y, mask):
        return super().attend(y, None if mask is None else ~mask)


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class dropout_not_passed_on(_PreLN):
    """Your parts keep their own dropout of 0.1; pass the layer's `dropout` on to them."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, 0.1)
        self.dropout = nn.Dropout(dropout)


@pre_ln.misconception(see=f"{CHAPTER}#mistake-pre-ln")
class layer_without_dropout(_PreLN):
    """Your layer has no dropout at all: in train mode two calls give the same."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, 0.0)
