"""Chapter 08: the layers of the Transformer and the whole of it. Contract of each exercise: see its reference."""

from dataclasses import replace

import torch

from autograder.exercises.multi_head import attention_weights, linear_weights
from autograder.judging.compare import close
from autograder.judging.exercise import Exercise
from autograder.judging.inputs import EXACT_ROOT, Inputs
from autograder.judging.standard import add_standard_criteria, nothing_dropped
from autograder.judging.trial import Trial
from autograder.learner.calls import Call
from autograder.reference import transformer

CHAPTER = "08_transformer"
HEADS, D_MODEL, D_FF = 3, 12, 19
"""Here d_model is a multiple of the number of heads."""


# --- LayerNorm and FeedForward ---------------------------------------------------------------------------------

def _norm_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.queries, s.d_k, scale=2.0) + 1,), init=(s.d_k,),
                weights={"weight": given.normal(s.d_k) + 1, "bias": given.normal(s.d_k)})


layer_norm = Exercise(
    "LayerNorm", CHAPTER, transformer.LayerNorm, _norm_case, returns=("y",), off_limits=("layer_norm",),
    hints=("Take one token: mean and variance run over its own features, and over nothing else.",
           "`x.mean(dim=-1, keepdim=True)` keeps an axis of size 1, so that the difference lines up.",
           "`x.var(dim=-1, keepdim=True, unbiased=False)` divides by d_model, not by d_model - 1.",
           "`(x - mean) / torch.sqrt(variance + self.eps)`, then times weight, plus bias."))
add_standard_criteria(
    layer_norm, values=3, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5, any_memory_layout=0.5,
    sentence="Written out by yourself: weight (x - mean) / sqrt(variance + eps) + bias over the features of a token.")


FAR_TOLERANCES = {torch.float32: (2e-3, 2e-3)}
"""A float32 of 3,000 is known to 0.0001, its square to 0.5."""


@layer_norm.criterion(points=0.5)
def small_differences(trial: Trial) -> None:
    """eps stands inside the root, and is the one that the constructor was given; a large mean does no harm."""
    call = trial.case()
    trial.must_agree(call)
    for size in (0.0, 3e-4, 3e-3):  # no eps at all shows first, then what is done with it
        trial.must_agree(replace(call, args=(call.args[0] * size,)))
    trial.must_agree(replace(call, init=(*call.init, 0.1)))
    trial.must_agree(replace(call, args=(call.args[0] + 3e3,)), FAR_TOLERANCES)


@layer_norm.criterion(points=0.5)
def as_it_starts(trial: Trial) -> None:
    """A new one has weights of 1 and a bias of 0, in eval mode and in train mode."""
    for training in (False, True):
        trial.must_agree(replace(trial.case(), weights=None, training=training))


def _feed_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.queries, s.d_k),), init=(s.d_k, s.d_model),
                weights=linear_weights(given, {"linear1": (s.d_model, s.d_k), "linear2": (s.d_k, s.d_model)}))


feed_forward = Exercise(
    "FeedForward", CHAPTER, transformer.FeedForward, _feed_case, returns=("y",),
    hints=("Two linear layers with something between them: wide, then back.",
           "`self.linear1 = nn.Linear(d_model, d_ff)` and `self.linear2 = nn.Linear(d_ff, d_model)`.",
           "`self.linear2(self.dropout(torch.relu(self.linear1(x))))`."))
add_standard_criteria(
    feed_forward, values=2, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    sentence="max(0, x W_1 + b_1) W_2 + b_2, for every position by itself.")


@feed_forward.criterion(points=0.5)
def dropout_when_training(trial: Trial) -> None:
    """In train mode dropout is at work; with dropout 0 it changes nothing."""
    must_drop(trial, trial.case())


def must_drop(trial: Trial, call: Call) -> None:
    """In train mode two calls differ with dropout 0.5, and equal the reference with dropout 0."""
    nothing_dropped(trial, replace(call, init=(*call.init, 0.0), training=True))
    dropped = replace(call, init=(*call.init, 0.5), training=True)
    one, other = (trial.well_formed(dropped).output for _ in range(2))
    trial.require(not torch.equal(one, other), "In train mode with dropout 0.5 two calls gave the same result.")


# --- EncoderLayer and DecoderLayer -----------------------------------------------------------------------------

LAYER_PARTS = {name: (exercise, lambda call: call.args[:1])
               for name, exercise in (("norm1", "LayerNorm"), ("norm2", "LayerNorm"), ("ffn", "FeedForward"))}
"""What a layer holds of the learner's own."""

def layer_weights(given: Inputs, before: str, attentions: tuple[str, ...],
                  d_model: int = D_MODEL) -> dict[str, torch.Tensor]:
    """All parameters of a layer with these attentions, under names that start with `before`."""
    weights = {}
    for name in attentions:
        weights |= attention_weights(given, d_model, f"{before}{name}.")
    weights |= linear_weights(given, {f"{before}ffn.linear1": (D_FF, d_model), f"{before}ffn.linear2": (d_model, D_FF)})
    for number in range(1, len(attentions) + 2):
        weights[f"{before}norm{number}.weight"] = given.normal(d_model, scale=0.3) + 1
        weights[f"{before}norm{number}.bias"] = given.normal(d_model, scale=0.3)
    return weights


def must_hide(trial: Trial) -> None:
    """The typical case of an encoder layer, without its mask and with it: hidden tokens change no other."""
    call = trial.case()
    x, mask = call.args
    trial.must_agree(replace(call, args=(x,)))
    hidden = ~mask[:, 0, 0]
    other = torch.where(hidden.unsqueeze(-1), -x, x)
    before, after = (trial.must_agree(replace(call, args=(y, mask))).output for y in (x, other))
    trial.require(bool(close(before[~hidden], after[~hidden]).all()), "A hidden token changes the others.")


def _encoder_layer_case(given: Inputs) -> Call:
    s = given.size
    return Call((given.normal(s.batch, s.keys, D_MODEL), given.mask(s.batch, s.keys)[:, None, None]),
                init=(D_MODEL, HEADS, D_FF), weights=layer_weights(given, "", ("self_attn",)))


encoder_layer = Exercise(
    "EncoderLayer", CHAPTER, transformer.EncoderLayer, _encoder_layer_case, returns=("the new x",),
    off_limits=("attention",), parts=LAYER_PARTS,
    hints=("Two sublayers, and around each the same frame: add what went in, then normalise.",
           "`self.self_attn(x, x, x, mask)` gives two results; the weights are not needed here.",
           "`x = self.norm1(x + self.dropout(attended))`, then the same with `self.ffn` and `self.norm2`."))
add_standard_criteria(
    encoder_layer, values=4, gradients=1, double_precision=0.5, arguments_unchanged=0.5,
    sentence="With the same weights, in eval mode: x = LayerNorm(x + Sublayer(x)) for attention, then for the "
    "feed-forward net.")


@encoder_layer.criterion(points=1)
def with_and_without_padding(trial: Trial) -> None:
    """Without a mask every token is read; with one, what stands at hidden positions reaches no other token."""
    must_hide(trial)


@encoder_layer.criterion(points=1)
def encoder_dropout(trial: Trial) -> None:
    """In train mode dropout is at work; with dropout 0 it changes nothing."""
    must_drop(trial, trial.case())


def _decoder_layer_case(given: Inputs) -> Call:
    s = given.size
    causal = torch.ones(s.queries, s.queries, dtype=torch.bool).tril()
    return Call((given.normal(s.batch, s.queries, D_MODEL), given.normal(s.batch, s.keys, D_MODEL),
                 given.mask(s.batch, s.keys)[:, None, None], causal),
                init=(D_MODEL, HEADS, D_FF), weights=layer_weights(given, "", ("self_attn", "cross_attn")))


decoder_layer = Exercise(
    "DecoderLayer", CHAPTER, transformer.DecoderLayer, _decoder_layer_case, returns=("the new x",),
    off_limits=("attention",), parts=LAYER_PARTS | {"norm3": LAYER_PARTS["norm1"]},
    hints=("Three sublayers in the frame that you know: look at yourself, look at the source, think.",
           "In cross-attention, who asks and who is asked? Queries from one side, keys and values from the other.",
           "`self.cross_attn(x, enc_out, enc_out, src_mask)`: the mask belongs to the keys.",
           "tgt_mask goes to self_attn, src_mask to cross_attn; norm1, norm2 and norm3 in this order."))
add_standard_criteria(
    decoder_layer, values=4, gradients=1, double_precision=0.5, arguments_unchanged=0.5,
    sentence="With the same weights, in eval mode: masked self-attention, cross-attention, feed-forward net, each as "
    "LayerNorm(x + Sublayer(x)).")


@decoder_layer.criterion(points=1)
def each_mask_in_its_place(trial: Trial) -> None:
    """Each mask may be missing, and each acts where it belongs."""
    call = trial.case()
    x, enc_out, src_mask, tgt_mask = call.args
    for masks in ((), (src_mask, tgt_mask), (None, tgt_mask), (src_mask, None)):
        trial.must_agree(replace(call, args=(x, enc_out, *masks)))


@decoder_layer.criterion(points=1)
def decoder_dropout(trial: Trial) -> None:
    """In train mode dropout is at work; with dropout 0 it changes nothing."""
    must_drop(trial, trial.case())


# --- Transformer -----------------------------------------------------------------------------------------------

LAYERS, MAX_LEN = 2, 16


def _transformer_case(given: Inputs) -> Call:
    s = given.size
    vocab = (s.vocab, s.embed)
    heads, d_model = (4, 36) if s == EXACT_ROOT else (HEADS, D_MODEL)  # sqrt(36) and sqrt(9) are exact, sqrt(12) is not
    weights = {"src_emb.weight": given.normal(vocab[0], d_model, scale=0.3),
               "tgt_emb.weight": given.normal(vocab[1], d_model, scale=0.3)}
    for layer in range(LAYERS):
        weights |= layer_weights(given, f"encoder.{layer}.", ("self_attn",), d_model)
        weights |= layer_weights(given, f"decoder.{layer}.", ("self_attn", "cross_attn"), d_model)
    weights |= linear_weights(given, {"proj": (vocab[1], d_model)})
    src = given.whole_numbers(1, vocab[0] - 1, s.batch, s.keys)
    tgt = given.whole_numbers(1, vocab[1] - 1, s.batch, s.queries)
    src[0, -2:], tgt[-1, -1:] = 0, 0
    tgt_mask = transformer.Transformer.make_pad_mask(tgt) & transformer.Transformer.make_causal_mask(s.queries)
    return Call((src, tgt, transformer.Transformer.make_pad_mask(src), tgt_mask),
                init=(*vocab, d_model, heads, LAYERS, D_FF, MAX_LEN), weights=weights)


def _hidden(call: Call, tokens: int, name: str) -> torch.Tensor:
    """Something for a layer to read: the vectors of the tokens, one way or the other."""
    return call.weights[f"{name}.weight"][call.args[tokens]]


STACKED = {f"encoder.{i}": ("EncoderLayer", lambda call: (_hidden(call, 0, "src_emb"), call.args[2]))
           for i in range(LAYERS)}
STACKED |= {f"decoder.{i}": ("DecoderLayer", lambda call: (
    _hidden(call, 1, "tgt_emb"), _hidden(call, 0, "src_emb"), *call.args[2:])) for i in range(LAYERS)}


whole = Exercise(
    "Transformer", CHAPTER, transformer.Transformer, _transformer_case, returns=("logits",),
    part_returns={"encode": ("hidden",), "decode": ("hidden",), "make_pad_mask": ("mask",),
                  "make_causal_mask": ("mask",)},
    off_limits=("attention",), parts=STACKED,
    hints=("Five parts: embed the source, run the encoder layers, embed the target, run the decoder layers, project.",
           "Embeddings are multiplied by sqrt(d_model) before the positions are added.",
           "`nn.ModuleList([EncoderLayer(...) for _ in range(num_layers)])`: N layers with weights of their own.",
           "Every decoder layer gets the LAST encoder layer's output, and both masks.",
           "`forward` is `self.proj(self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask))`."))
add_standard_criteria(
    whole, values=4, gradients=0.5, double_precision=0.5, arguments_unchanged=0.5,
    sentence="With the same weights, in eval mode, the logits equal the reference's.")


@whole.criterion(points=0.5)
def encode_and_decode(trial: Trial) -> None:
    """`encode` and `decode` give hidden states, before the projection, with and without masks."""
    call = trial.case()
    src, tgt, src_mask, tgt_mask = call.args
    enc_out = trial.must_agree(replace(call, part="encode", args=(src, src_mask))).output
    trial.must_agree(replace(call, part="decode", args=(tgt, enc_out, src_mask, tgt_mask)))
    trial.must_agree(replace(call, part="encode", args=(src,)))
    trial.must_agree(replace(call, part="decode", args=(tgt, enc_out)))


@whole.criterion(points=0.5)
def mask_makers(trial: Trial) -> None:
    """make_pad_mask is (batch, 1, 1, seq) and make_causal_mask (size, size), True = allowed, both static methods."""
    call = trial.case()
    src = call.args[0]
    for asked in (Call(), replace(call, args=())):  # the class itself, then a model
        for args in ((src,), (src, 0), (src, 3)):
            trial.must_agree(replace(asked, part="make_pad_mask", args=args))
        for size in (5, 1):
            trial.must_agree(replace(asked, part="make_causal_mask", args=(size,)))


@whole.criterion(points=0.5)
def nothing_from_the_future(trial: Trial) -> None:
    """With the causal mask a later target token changes no earlier logits; without masks everything is read."""
    call = trial.case()
    src, tgt, *masks = call.args
    later = tgt.clone()
    later[:, 3] = later[:, 3] % 7 + 1 + 8
    before, after = (trial.must_agree(replace(call, args=(src, t, *masks))).output for t in (tgt, later))
    trial.require(bool(close(before[:, :3], after[:, :3]).all()), "A later token changes earlier logits.")
    trial.must_agree(replace(call, args=(src, tgt)))


@whole.criterion(points=0.5)
def room_for_max_len(trial: Trial) -> None:
    """Source and target may have max_len tokens; a longer one is a ValueError with both lengths."""
    call, longest = trial.case(), 11
    given = trial.inputs()
    built = replace(call, init=(*call.init[:-1], longest))
    src, longer = (given.whole_numbers(1, given.size.vocab - 1, 2, length) for length in (longest, longest + 1))
    trial.must_agree(replace(built, args=(src, src)))
    for args in ((longer, src), (src, longer)):
        trial.must_raise(replace(built, args=args), "ValueError", [str(longest), str(longest + 1)])


@whole.criterion(points=0.5)
def transformer_dropout(trial: Trial) -> None:
    """In train mode dropout is at work; with dropout 0 it changes nothing."""
    must_drop(trial, trial.case())
