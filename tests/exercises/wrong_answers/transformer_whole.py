"""Chapter 08: Transformer. Each slip is the reference with one part replaced."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference import transformer
from autograder.reference.positional_encoding import LearnedPositionalEmbedding, PositionalEncoding

WHOLE = transformer.Transformer


def whole(**parts):
    """Transformer with other methods: `encode`, `decode`, `forward`, `embed` or the mask makers."""
    return type("Transformer", (WHOLE,), parts)


def prepared(prepare):
    """The reference, after `prepare(self, d_model, num_layers, max_len)` in its constructor."""
    class Transformer(WHOLE):
        def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                     dropout=0.1):
            super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
            prepare(self, d_model, num_layers, max_len)

    return Transformer


def embedded(change):
    """Transformer whose `embed` gives `change(self, embedded tokens, root of d_model)`."""
    def embed(self, embedding, tokens):
        return self.dropout(change(self, embedding(tokens), math.sqrt(embedding.embedding_dim)))

    return whole(embed=embed)


def target_without_positions(self, tgt, enc_out, src_mask=None, tgt_mask=None):
    x = self.tgt_emb(tgt) * math.sqrt(self.tgt_emb.embedding_dim)
    for layer in self.decoder:
        x = layer(x, enc_out, src_mask, tgt_mask)
    return x


def last_layers_first(self, src, src_mask=None):
    x = self.embed(self.src_emb, src)
    for layer in reversed(self.encoder):
        x = layer(x, src_mask)
    return x


def one_layer_less(self, tgt, enc_out, src_mask=None, tgt_mask=None):
    x = self.embed(self.tgt_emb, tgt)
    for layer in self.decoder[:-1]:
        x = layer(x, enc_out, src_mask, tgt_mask)
    return x


def layers(*order):
    """A `decode` whose layers get these of x, enc_out, src_mask and tgt_mask, in this order."""
    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        x = self.embed(self.tgt_emb, tgt)
        for layer in self.decoder:
            named = {"x": x, "enc_out": enc_out, "src": src_mask, "tgt": tgt_mask}
            x = layer(*(named[name] for name in order))
        return x

    return decode


def source_overwritten(self, tgt, enc_out, src_mask=None, tgt_mask=None):
    x = self.embed(self.tgt_emb, tgt)
    for layer in self.decoder:
        x = layer(x, enc_out, src_mask, tgt_mask)
        enc_out = x
    return x


def masks_swapped(self, src, tgt, src_mask=None, tgt_mask=None):
    return self.proj(self.decode(tgt, self.encode(src, src_mask), tgt_mask, src_mask))


def positions_twice(self, tgt, enc_out, src_mask=None, tgt_mask=None):
    x = self.dropout(self.pos(self.pos(self.tgt_emb(tgt) * math.sqrt(self.tgt_emb.embedding_dim))))
    for layer in self.decoder:
        x = layer(x, enc_out, src_mask, tgt_mask)
    return x


def of_layers(name, kind, *sizes):
    """The reference whose stack `name` holds layers that get these of d_model, heads, layers, d_ff and dropout."""
    class Transformer(WHOLE):
        def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                     dropout=0.1):
            super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
            known = {"d_model": d_model, "heads": num_heads, "layers": num_layers, "d_ff": d_ff, "dropout": dropout}
            setattr(self, name, nn.ModuleList(kind(*(known[size] for size in sizes)) for _ in range(num_layers)))

    return Transformer


def source_refined(self, tgt, enc_out, src_mask=None, tgt_mask=None):
    """Every decoder layer reads what the one before it gave, averaged, beside the source."""
    x = self.embed(self.tgt_emb, tgt)
    for layer in self.decoder:
        x = layer(x, enc_out, src_mask, tgt_mask)
        enc_out = enc_out + x.mean(1, keepdim=True)
    return x


def target_embedded_as_source(self, tgt, enc_out, src_mask=None, tgt_mask=None):
    x = self.embed(self.src_emb, tgt)
    for layer in self.decoder:
        x = layer(x, enc_out, src_mask, tgt_mask)
    return x


def causal_encoder(self, src, src_mask=None):
    causal = self.make_causal_mask(src.size(1))
    return WHOLE.encode(self, src, causal if src_mask is None else src_mask & causal)


def masks_of_its_own(self, src, tgt, src_mask=None, tgt_mask=None):
    src_mask = self.make_pad_mask(src)
    tgt_mask = self.make_pad_mask(tgt) & self.make_causal_mask(tgt.size(1))
    return self.proj(self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask))


def log_probabilities(self, *args):
    return torch.log_softmax(WHOLE.forward(self, *args), dim=-1)


def most_probable(self, *args):
    return WHOLE.forward(self, *args).argmax(dim=-1)


def last_position(self, *args):
    return WHOLE.forward(self, *args)[:, -1]


def with_source(self, src, tgt, src_mask=None, tgt_mask=None):
    enc_out = self.encode(src, src_mask)
    return self.proj(self.decode(tgt, enc_out, src_mask, tgt_mask)), enc_out


def source_detached(self, src, tgt, src_mask=None, tgt_mask=None):
    return self.proj(self.decode(tgt, self.encode(src, src_mask).detach(), src_mask, tgt_mask))


def learned_positions(self, d_model, num_layers, max_len):
    self.pos = LearnedPositionalEmbedding(max_len, d_model)


def with_room(rows):
    """Transformer whose table of positions has `rows(max_len)` rows."""
    return prepared(lambda self, d_model, num_layers, max_len: setattr(
        self, "pos", PositionalEncoding(d_model, rows(max_len))))


def fixed_embedding(self, *_):
    self.src_emb.weight.requires_grad_(False)


TRANSFORMER = {
    "embeddings divided by the root": embedded(lambda self, x, root: self.pos(x / root)),
    "embeddings times d_model": embedded(lambda self, x, root: self.pos(x * root**2)),
    "positions twice": embedded(lambda self, x, root: self.pos(self.pos(x * root))),
    "positions only": embedded(lambda self, x, root: self.pos(0 * x)),
    "embeddings normalised": embedded(lambda self, x, root: self.pos(F.layer_norm(x, x.shape[-1:]))),
    "target without positions": whole(decode=target_without_positions),
    "last layers first": whole(encode=last_layers_first),
    "one decoder layer less": whole(decode=one_layer_less),
    "masks swapped in forward": whole(forward=masks_swapped),
    "masks swapped for the layers": whole(decode=layers("x", "enc_out", "tgt", "src")),
    "source's mask twice": whole(decode=layers("x", "enc_out", "src", "src")),
    "source and target swapped": whole(decode=layers("enc_out", "x", "src", "tgt")),
    "target for both": whole(decode=layers("x", "x", "tgt", "tgt")),
    "source overwritten": whole(decode=source_overwritten),
    "positions twice in decode": whole(decode=positions_twice),
    "encoder's dropout not passed on": of_layers("encoder", transformer.EncoderLayer, "d_model", "heads", "d_ff"),
    "decoder's dropout not passed on": of_layers("decoder", transformer.DecoderLayer, "d_model", "heads", "d_ff"),
    "heads and layers swapped": of_layers(
        "encoder", transformer.EncoderLayer, "d_model", "layers", "d_ff", "dropout"),
    "dropout of a tenth": prepared(lambda self, *_: setattr(self, "dropout", nn.Dropout(0.1))),
    "source refined": whole(decode=source_refined),
    "target embedded as source": whole(decode=target_embedded_as_source),
    "encoder is causal": whole(encode=causal_encoder),
    "masks of its own": whole(forward=masks_of_its_own),
    "log-probabilities": whole(forward=log_probabilities),
    "most probable words": whole(forward=most_probable),
    "last position only": whole(forward=last_position),
    "source returned too": whole(forward=with_source),
    "source detached": whole(forward=source_detached),
    "pad mask without the two axes": whole(make_pad_mask=staticmethod(lambda seq, pad_idx=0: seq != pad_idx)),
    "pad mask of numbers": whole(make_pad_mask=staticmethod(
        lambda seq, pad_idx=0: (seq != pad_idx)[:, None, None].float())),
    "causal mask of numbers": whole(make_causal_mask=staticmethod(lambda size: torch.ones(size, size).tril())),
    "causal mask with one more": whole(make_causal_mask=staticmethod(
        lambda size: torch.ones(size, size, dtype=torch.bool).tril(1))),
    "causal mask with two axes more": whole(make_causal_mask=staticmethod(
        lambda size: torch.ones(1, 1, size, size, dtype=torch.bool).tril())),
    "mask makers are no static methods": whole(make_causal_mask=lambda size: WHOLE.make_causal_mask(size)),
    "always float32": whole(forward=lambda self, *args: WHOLE.forward(self, *args).float()),
    "float32 inside": whole(forward=lambda self, *args: WHOLE.forward(self, *args).float().to(self.proj.weight.dtype)),
    "in place": whole(forward=lambda self, src, *rest: WHOLE.forward(self, src, *rest) + 0 * src.data.add_(1).sum()),
    "learned positions": prepared(learned_positions),
    "max_len unused": with_room(lambda max_len: 5000),
    "one position too many": with_room(lambda max_len: max_len + 1),
    "one position too few": with_room(lambda max_len: max_len - 1),
    "projection without bias": prepared(lambda self, d, *_: setattr(
        self, "proj", nn.Linear(d, self.proj.out_features, bias=False))),
    "embedding not learned": prepared(fixed_embedding),
    "a norm at the end of the encoder": prepared(lambda self, d, *_: setattr(self, "encoder_norm", nn.LayerNorm(d))),
}

WRONG = {"Transformer": TRANSFORMER}

NAMED = {
    ("Transformer", "masks swapped in forward"): "masks_changed_over_for_decode",
    ("Transformer", "masks swapped for the layers"): "masks_changed_over_for_the_layers",
    ("Transformer", "source's mask twice"): "source_mask_for_both_attentions",
    ("Transformer", "target for both"): "target_given_for_the_source",
    ("Transformer", "source overwritten"): "source_overwritten_by_a_layer",
    ("Transformer", "positions twice in decode"): "positions_added_twice_to_the_target",
    ("Transformer", "encoder's dropout not passed on"): "dropout_not_passed_to_the_encoder",
    ("Transformer", "decoder's dropout not passed on"): "dropout_not_passed_to_the_decoder",
    ("Transformer", "dropout of a tenth"): "embeddings_dropped_at_a_fixed_rate",
    ("Transformer", "embeddings divided by the root"): "divided_by_the_root_of_d_model",
    ("Transformer", "embeddings times d_model"): "multiplied_by_d_model",
    ("Transformer", "target without positions"): "positions_in_the_encoder_only",
    ("Transformer", "masks of its own"): "masks_made_in_forward",
}
