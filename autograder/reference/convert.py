"""The same weights in torch's own modules and in ours: `to_torch` and `from_torch` (the equality ladder of chapter 08).

Pairs: MultiHeadAttention and nn.MultiheadAttention, LayerNorm and nn.LayerNorm, EncoderLayer and
nn.TransformerEncoderLayer, DecoderLayer and nn.TransformerDecoderLayer, the layers of a Transformer and nn.Transformer
without final norms. Dropout sits elsewhere in torch's modules (on the attention weights), so only modules without
dropout, or in eval mode, compute the same.
"""

from functools import singledispatch

import torch
from torch import nn

from autograder.reference.multi_head import MultiHeadAttention
from autograder.reference.transformer import DecoderLayer, EncoderLayer, LayerNorm, Transformer


@singledispatch
def to_torch(module: nn.Module) -> nn.Module:
    """torch's module with the weights, dtype and mode of ours.

    Raises TypeError where there is no such pair, ValueError for a Transformer without layers.
    """
    raise TypeError(f"There is no torch module for a {type(module).__name__}; see the pairs in {__name__}.")


@singledispatch
def from_torch(module: nn.Module) -> nn.Module:
    """Our module with the weights, dtype and mode of torch's; of an nn.Transformer its encoder and decoder layers.

    Raises TypeError where there is no such pair, ValueError where torch's module was made with an option that ours does
    not have: its result would be another.
    """
    raise TypeError(f"There is no module of the course for a {type(module).__name__}; see the pairs in {__name__}.")


def _require(holds: bool, module: nn.Module, option: str, remedy: str) -> None:
    if not holds:
        raise ValueError(f"This {type(module).__name__} has {option}, and the course's has not; {remedy}.")


@torch.no_grad()
def _copy(source: nn.Module, target: nn.Module, pairs: dict[str, str]) -> nn.Module:
    """Copies whole parts, by name in source and target; the target takes dtype and mode too."""
    target = target.to(next(source.parameters()).dtype).train(source.training)
    for mine, theirs in pairs.items():
        target.get_submodule(theirs).load_state_dict(source.get_submodule(mine).state_dict())
    return target


def _convert_parts(convert, source: nn.Module, target: nn.Module, pairs: dict[str, str]) -> None:
    """Puts converted parts into the target, by name in source and target."""
    for mine, theirs in pairs.items():
        setattr(target, theirs, convert(source.get_submodule(mine)))


# --- attention and norm ----------------------------------------------------------------------------------------

@to_torch.register
@torch.no_grad()
def _(module: MultiHeadAttention) -> nn.MultiheadAttention:
    d_model = module.W_o.in_features
    target = nn.MultiheadAttention(d_model, module.num_heads, module.dropout.p, batch_first=True)
    target = _copy(module, target, {"W_o": "out_proj"})
    target.in_proj_weight.copy_(torch.cat([module.W_q.weight, module.W_k.weight, module.W_v.weight]))
    target.in_proj_bias.copy_(torch.cat([module.W_q.bias, module.W_k.bias, module.W_v.bias]))
    return target


@from_torch.register
@torch.no_grad()
def _(module: nn.MultiheadAttention) -> MultiHeadAttention:
    _require(module.batch_first, module, "batch_first=False", "make it with batch_first=True")
    _require(module.in_proj_weight is not None, module, "kdim or vdim", "make it without")
    _require(module.in_proj_bias is not None, module, "bias=False", "make it with biases")
    _require(module.bias_k is None, module, "add_bias_kv=True", "make it without")
    _require(not module.add_zero_attn, module, "add_zero_attn=True", "make it without")
    target = MultiHeadAttention(module.embed_dim, module.num_heads, module.dropout)
    target = _copy(module, target, {"out_proj": "W_o"})
    parts = zip((target.W_q, target.W_k, target.W_v), module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3),
                strict=True)
    for linear, weight, bias in parts:
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return target


@to_torch.register
def _(module: LayerNorm) -> nn.LayerNorm:
    return _copy(module, nn.LayerNorm(len(module.weight), module.eps), {"": ""})


@from_torch.register
def _(module: nn.LayerNorm) -> LayerNorm:
    _require(len(module.normalized_shape) == 1, module, f"a normalized_shape {module.normalized_shape} of several axes",
             "give it the last one alone")
    _require(module.weight is not None, module, "elementwise_affine=False", "make it with weight and bias")
    _require(module.bias is not None, module, "bias=False", "make it with a bias")
    return _copy(module, LayerNorm(module.normalized_shape[0], module.eps), {"": ""})


# --- layers ----------------------------------------------------------------------------------------------------
# Names of the parts in our layers, and in torch's.

FEED_FORWARD = {"ffn.linear1": "linear1", "ffn.linear2": "linear2"}
ENCODER = {"self_attn": "self_attn", "norm1": "norm1", "norm2": "norm2"}
DECODER = ENCODER | {"cross_attn": "multihead_attn", "norm3": "norm3"}


def _layer_to_torch(module: nn.Module, kind: type, parts: dict[str, str]) -> nn.Module:
    linear = module.ffn.linear1
    target = kind(linear.in_features, module.self_attn.num_heads, linear.out_features, module.dropout.p,
                  module.ffn.activation, batch_first=True, norm_first=module.norm_first)
    _convert_parts(to_torch, module, target, parts)
    return _copy(module, target, FEED_FORWARD)


def _layer_from_torch(module: nn.Module, kind: type, parts: dict[str, str]) -> nn.Module:
    target = kind(module.linear1.in_features, module.self_attn.num_heads, module.linear1.out_features,
                  module.dropout.p, activation=module.activation, norm_first=module.norm_first)
    _convert_parts(from_torch, module, target, {theirs: mine for mine, theirs in parts.items()})
    return _copy(module, target, {theirs: mine for mine, theirs in FEED_FORWARD.items()})


@to_torch.register
def _(module: EncoderLayer) -> nn.TransformerEncoderLayer:
    return _layer_to_torch(module, nn.TransformerEncoderLayer, ENCODER)


@from_torch.register
def _(module: nn.TransformerEncoderLayer) -> EncoderLayer:
    return _layer_from_torch(module, EncoderLayer, ENCODER)


@to_torch.register
def _(module: DecoderLayer) -> nn.TransformerDecoderLayer:
    return _layer_to_torch(module, nn.TransformerDecoderLayer, DECODER)


@from_torch.register
def _(module: nn.TransformerDecoderLayer) -> DecoderLayer:
    return _layer_from_torch(module, DecoderLayer, DECODER)


# --- the whole -------------------------------------------------------------------------------------------------

@to_torch.register
def _(module: Transformer) -> nn.Transformer:
    """The layers alone: nn.Transformer takes embedded sequences and gives hidden states."""
    if not module.encoder:
        raise ValueError("This Transformer has no layers, and the number of heads is theirs; make it with num_layers 1 "
                         "or more.")
    first = module.encoder[0]
    linear = first.ffn.linear1
    target = nn.Transformer(linear.in_features, first.self_attn.num_heads, 1, 1, linear.out_features, batch_first=True)
    for stack, ours in ((target.encoder, module.encoder), (target.decoder, module.decoder)):
        stack.layers, stack.num_layers, stack.norm = nn.ModuleList(map(to_torch, ours)), len(ours), None
    return target.train(module.training)


@from_torch.register
def _(module: nn.Transformer) -> tuple[nn.ModuleList, nn.ModuleList]:
    _require(module.encoder.norm is module.decoder.norm is None, module, "a norm after its last layers",
             "set encoder.norm and decoder.norm to None where it is not wanted")
    return (nn.ModuleList(map(from_torch, module.encoder.layers)),
            nn.ModuleList(map(from_torch, module.decoder.layers)))
