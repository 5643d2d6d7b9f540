"""Right answers to the exercises EncoderLayer and DecoderLayer of chapter 08, each written in another way.

What chapter 06 gives, and what the two exercises before ask for, is used as it stands.
"""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference.multi_head import MultiHeadAttention, masked_attention, merge_heads, split_heads
from autograder.reference.transformer import FeedForward, LayerNorm
from autograder.right_answers import right_answer

# --- EncoderLayer ----------------------------------------------------------------------------------------------


@right_answer("EncoderLayer")
class StepByStep(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        attended, _ = self.self_attn(x, x, x, mask)
        x = self.norm1(x + self.dropout(attended))
        return self.norm2(x + self.dropout(self.ffn(x)))


@right_answer("EncoderLayer")
class LibraryNorms(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.drop1, self.drop2 = nn.Dropout(dropout), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        y = self.norm1(self.drop1(self.self_attn(x, x, x, mask=mask)[0]) + x)
        return self.norm2(self.drop2(self.ffn(y)) + y)


@right_answer("EncoderLayer")
class DropoutInsideThePartsOnly(nn.Module):
    """Where dropout stands is not asked."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.ffn = FeedForward(d_model, d_ff=d_ff, dropout=dropout)
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout=dropout)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.self_attn(x, x, x, mask)[0])
        x = self.norm2(x + self.ffn(x))
        return x


@right_answer("EncoderLayer")
class OneFrame(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.rate = dropout

    def frame(self, x, sublayer, norm):
        return norm(x + F.dropout(sublayer(x), self.rate, self.training))

    def forward(self, x, mask=None):
        x = self.frame(x, lambda y: self.self_attn(y, y, y, mask)[0], self.norm1)
        return self.frame(x, self.ffn, self.norm2)


@right_answer("EncoderLayer")
class HeadsByHand(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.heads = num_heads
        self.self_attn = nn.ModuleDict({f"W_{part}": nn.Linear(d_model, d_model) for part in "qkvo"})
        self.ffn = nn.ModuleDict({"linear1": nn.Linear(d_model, d_ff), "linear2": nn.Linear(d_ff, d_model)})
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        query, key, value = (split_heads(self.self_attn[f"W_{part}"](x), self.heads) for part in "qkv")
        mixed = self.self_attn["W_o"](merge_heads(masked_attention(query, key, value, mask)[0]))
        x = self.norm1(x + self.dropout(mixed))
        hidden = self.ffn["linear1"](x).relu()
        return self.norm2(x + self.ffn["linear2"](self.dropout(hidden)))


@right_answer("EncoderLayer")
class EverythingIsAllowed(nn.Module):
    """Without a mask there is one that allows everything."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model=d_model, num_heads=num_heads, dropout=dropout)
        self.ffn = FeedForward(d_model=d_model, d_ff=d_ff, dropout=dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)

    def forward(self, x, mask=None):
        if mask is None:
            mask = torch.ones(len(x), 1, 1, x.size(1), dtype=torch.bool, device=x.device)
        out = self.self_attn(x, x, x, mask)[0]
        residual = torch.add(x, out)
        normal = self.norm1(residual)
        return self.norm2(torch.add(normal, self.ffn(normal)))


@right_answer("EncoderLayer")
class TwoParts(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        parts = {"self_attn": MultiHeadAttention(d_model, num_heads, dropout), "norm1": LayerNorm(d_model),
                 "ffn": FeedForward(d_model, d_ff, dropout), "norm2": LayerNorm(d_model)}
        for name, part in parts.items():
            setattr(self, name, part)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x, mask):
        return self.norm1(x + self.dropout(self.self_attn(x, x, x, mask)[0]))

    def transform(self, x):
        return self.norm2(x + self.dropout(self.ffn(x)))

    def forward(self, x, mask=None):
        return self.transform(self.attend(x, mask))


# --- DecoderLayer ----------------------------------------------------------------------------------------------


@right_answer("DecoderLayer")
class ThreeSteps(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        attended, _ = self.self_attn(x, x, x, tgt_mask)
        x = self.norm1(x + self.dropout(attended))
        attended, _ = self.cross_attn(x, enc_out, enc_out, src_mask)
        x = self.norm2(x + self.dropout(attended))
        return self.norm3(x + self.dropout(self.ffn(x)))


@right_answer("DecoderLayer")
class LibraryNormsAgain(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        for i in (1, 2, 3):
            self.add_module(f"norm{i}", nn.LayerNorm(d_model))
            self.add_module(f"drop{i}", nn.Dropout(dropout))
        self.self_attn, self.cross_attn = (MultiHeadAttention(d_model, num_heads, dropout) for _ in "12")
        self.ffn = FeedForward(d_model, d_ff, dropout)

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        first = self.norm1(x + self.drop1(self.self_attn(x, x, x, mask=tgt_mask)[0]))
        second = self.norm2(first + self.drop2(self.cross_attn(q=first, k=enc_out, v=enc_out, mask=src_mask)[0]))
        return self.norm3(second + self.drop3(self.ffn(second)))


@right_answer("DecoderLayer")
class ListOfSublayers(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2, self.norm3 = LayerNorm(d_model), LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        sublayers = [(self.norm1, lambda y: self.self_attn(y, y, y, tgt_mask)[0]),
                     (self.norm2, lambda y: self.cross_attn(y, enc_out, enc_out, src_mask)[0]),
                     (self.norm3, self.ffn)]
        for norm, sublayer in sublayers:
            x = norm(x + self.dropout(sublayer(x)))
        return x


@right_answer("DecoderLayer")
class OnTopOfAnEncoderLayer(nn.Module):
    """Attention and its sum are the same twice, with other keys and another mask."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.norm1 = LayerNorm(d_model)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout)
        self.norm2 = LayerNorm(d_model)
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm3 = LayerNorm(d_model)

    def look(self, number, attention, x, other, mask):
        norm = getattr(self, f"norm{number}")
        return norm(attention(x, other, other, mask)[0] + x)

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        x = self.look(1, self.self_attn, x, x, tgt_mask)
        x = self.look(2, self.cross_attn, x, enc_out, src_mask)
        return self.norm3(self.ffn(x) + x)


@right_answer("DecoderLayer")
class AttentionByHand(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attn = nn.ModuleDict({f"W_{part}": nn.Linear(d_model, d_model) for part in "qkvo"})
        self.cross_attn = nn.ModuleDict({f"W_{part}": nn.Linear(d_model, d_model) for part in "qkvo"})
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.norm1, self.norm2, self.norm3 = nn.LayerNorm(d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.heads, self.drop = num_heads, nn.Dropout(dropout)

    def attend(self, layers, x, other, mask):
        query = split_heads(layers["W_q"](x), self.heads)
        key, value = (split_heads(layers[name](other), self.heads) for name in ("W_k", "W_v"))
        return layers["W_o"](self.drop(merge_heads(masked_attention(query, key, value, mask)[0])))

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        x = self.norm1(x + self.attend(self.self_attn, x, x, tgt_mask))
        x = self.norm2(x + self.attend(self.cross_attn, x, enc_out, src_mask))
        return self.norm3(x + self.ffn(x))


@right_answer("DecoderLayer")
class MasksFilledIn(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.norm1, self.norm2, self.norm3 = [LayerNorm(d_model) for _ in range(3)]
        self.self_attn, self.cross_attn = [MultiHeadAttention(d_model, num_heads, dropout) for _ in range(2)]
        self.ffn = FeedForward(d_model, d_ff, dropout)
        self.rate = dropout

    def forward(self, x, enc_out, src_mask=None, tgt_mask=None):
        src, tgt = enc_out.size(1), x.size(1)
        if src_mask is None:
            src_mask = x.new_ones(1, 1, 1, src)
        if tgt_mask is None:
            tgt_mask = x.new_ones(1, 1, tgt, tgt)
        y = F.dropout(self.self_attn(x, x, x, tgt_mask)[0], self.rate, self.training)
        y = x = self.norm1(x + y)
        y = F.dropout(self.cross_attn(y, enc_out, enc_out, src_mask)[0], self.rate, self.training)
        y = x = self.norm2(x + y)
        return self.norm3(x + F.dropout(self.ffn(y), p=self.rate, training=self.training))
