"""Right answers to the exercises swiglu and PreLNEncoderLayer of chapter 11, each written in another way.

What earlier chapters give is used as it stands.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference.multi_head import MultiHeadAttention, masked_attention, merge_heads, split_heads
from autograder.reference.transformer import EncoderLayer, FeedForward, LayerNorm
from autograder.right_answers import right_answer

# --- swiglu ----------------------------------------------------------------------------------------------------


@right_answer("swiglu")
def linear_layers(x, w_gate, w_up, w_down):
    gate, up = F.linear(x, w_gate), F.linear(x, w_up)
    return F.linear(F.silu(gate) * up, w_down)


@right_answer("swiglu")
def sigmoid_by_name(x, w_gate, w_up, w_down):
    gate = x @ w_gate.T
    hidden = gate * torch.sigmoid(gate) * (x @ w_up.T)
    return hidden @ w_down.T


@right_answer("swiglu")
def exponential_written_out(x, w_gate, w_up, w_down):
    gate = torch.matmul(x, w_gate.mT)
    gate = gate / (1 + torch.exp(-gate))
    return torch.matmul(gate * torch.matmul(x, w_up.mT), w_down.mT)


@right_answer("swiglu")
def sums_with_einsum(x, w_gate, w_up, w_down):
    gate = torch.einsum("...d,fd->...f", x, w_gate)
    up = torch.einsum("...d,fd->...f", x, w_up)
    return torch.einsum("...f,df->...d", F.silu(gate) * up, w_down)


@right_answer("swiglu")
def one_product_for_two(x, w_gate, w_up, w_down):
    gate, up = (x @ torch.cat([w_gate, w_up]).T).chunk(2, dim=-1)
    return (nn.SiLU()(gate) * up) @ w_down.T


@right_answer("swiglu")
def by_the_librarys_glu(x, w_gate, w_up, w_down):
    """F.glu multiplies its first half by the sigmoid of its second."""
    gate, up = x @ w_gate.transpose(0, 1), x @ w_up.transpose(0, 1)
    return F.glu(torch.cat([gate * up, gate], dim=-1), dim=-1) @ w_down.transpose(0, 1)


@right_answer("swiglu")
def token_after_token(x, w_gate, w_up, w_down):
    def net(token):
        return w_down @ (F.silu(w_gate @ token) * (w_up @ token))

    tokens = x.reshape(-1, x.shape[-1])
    return torch.stack([net(token) for token in tokens]).reshape(x.shape)


@right_answer("swiglu")
def flat_and_back(x, w_gate, w_up, w_down):
    flat = x.reshape(math.prod(x.shape[:-1]), x.size(-1))
    hidden = torch.mm(flat, w_gate.t())
    hidden = hidden.mul(hidden.sigmoid()).mul(torch.mm(flat, w_up.t()))
    return torch.mm(hidden, w_down.t()).reshape(x.shape)


@right_answer("swiglu")
def feature_by_feature(x, w_gate, w_up, w_down):
    """What the inner features write is added up, one after the other."""
    total = torch.zeros_like(x)
    for reads_gate, reads_up, writes in zip(w_gate, w_up, w_down.unbind(dim=1), strict=True):
        value = F.silu((x * reads_gate).sum(-1)) * (x * reads_up).sum(-1)
        total = total + value.unsqueeze(-1) * writes
    return total


# --- PreLNEncoderLayer -----------------------------------------------------------------------------------------


@right_answer("PreLNEncoderLayer")
class NormThenSublayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        y = self.norm1(x)
        attended, _ = self.self_attn(y, y, y, mask)
        x = x + self.dropout(attended)
        return x + self.dropout(self.ffn(self.norm2(x)))


@right_answer("PreLNEncoderLayer")
class NormsOfTheLibrary(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        normal = self.norm1(x)
        middle = self.drop1(self.self_attn(q=normal, k=normal, v=normal, mask=mask)[0]) + x
        return self.drop2(self.ffn(self.norm2(middle))) + middle


@right_answer("PreLNEncoderLayer")
class FrameAroundBoth(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.rate = dropout

    def frame(self, x, norm, sublayer):
        return x + F.dropout(sublayer(norm(x)), self.rate, self.training)

    def forward(self, x, mask=None):
        x = self.frame(x, self.norm1, lambda y: self.self_attn(y, y, y, mask)[0])
        return self.frame(x, self.norm2, self.ffn)


@right_answer("PreLNEncoderLayer")
class OnlyForwardIsNew(EncoderLayer):
    """The parts are those of EncoderLayer, so its constructor stays."""

    def forward(self, x, mask=None):
        y = self.norm1(x)
        x = x + self.dropout(self.self_attn(y, y, y, mask)[0])
        y = self.norm2(x)
        return x + self.dropout(self.ffn(y))


@right_answer("PreLNEncoderLayer")
class DropoutInThePartsAlone(nn.Module):
    """Where dropout stands is not asked."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.ffn = FeedForward(d_model, d_ff=d_ff, dropout=dropout)
        self.norm2 = LayerNorm(d_model, eps=1e-5)
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout)
        self.norm1 = LayerNorm(d_model, eps=1e-5)

    def forward(self, x, mask=None):
        added = self.self_attn(*[self.norm1(x)] * 3, mask)[0]
        x = torch.add(x, added)
        return torch.add(x, self.ffn(self.norm2(x)))


@right_answer("PreLNEncoderLayer")
class SumAtTheEnd(nn.Module):
    """What each sublayer gives is kept, and added to x at the end."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        parts = {"norm1": LayerNorm(d_model), "self_attn": MultiHeadAttention(d_model, num_heads, dropout),
                 "norm2": LayerNorm(d_model), "ffn": FeedForward(d_model, d_ff, dropout)}
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x, mask=None):
        y = self.norm1(x)
        seen = self.self_attn(y, y, y, mask)[0]
        thought = self.ffn(self.norm2(x + seen))
        return x + seen + thought


@right_answer("PreLNEncoderLayer")
class AttentionFromItsPieces(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.heads = num_heads
        self.self_attn = nn.ModuleDict({f"W_{part}": nn.Linear(d_model, d_model) for part in "qkvo"})
        self.ffn = nn.ModuleDict({"linear1": nn.Linear(d_model, d_ff), "linear2": nn.Linear(d_ff, d_model)})
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        normal = self.norm1(x)
        query, key, value = (split_heads(self.self_attn[f"W_{part}"](normal), self.heads) for part in "qkv")
        mixed = merge_heads(masked_attention(query, key, value, mask)[0])
        x = x + self.dropout(self.self_attn["W_o"](mixed))
        hidden = torch.relu(self.ffn["linear1"](self.norm2(x)))
        return x + self.ffn["linear2"](self.dropout(hidden))


@right_answer("PreLNEncoderLayer")
class MaskFilledIn(nn.Module):
    """Without a mask there is one that allows everything."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads, dropout=dropout)
        self.ffn = FeedForward(d_model=d_model, d_ff=d_ff, dropout=dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        if mask is None:
            mask = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device)
        steps = [(self.norm1, lambda y: self.self_attn(y, y, y, mask)[0]), (self.norm2, self.ffn)]
        for norm, sublayer in steps:
            x = x + self.dropout(sublayer(norm(x)))
        return x
