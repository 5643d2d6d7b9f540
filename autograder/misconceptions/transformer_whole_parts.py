"""Chapter 08: more mistakes that are named in Transformer: tables, roots and positions, masks."""

import torch
from torch import nn

from autograder.exercises.transformer import CHAPTER, whole
from autograder.misconceptions.transformer_whole import Whole
from autograder.reference.transformer import DecoderLayer, EncoderLayer

# --- embeddings and positions ----------------------------------------------------------------------------------


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class padding_idx_given(Whole):
    """You give nn.Embedding a padding_idx, so the vector of token 0 never learns; padding is the masks' affair."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
        self.src_emb = nn.Embedding(src_vocab, d_model, padding_idx=0)
        self.tgt_emb = nn.Embedding(tgt_vocab, d_model, padding_idx=0)


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class tables_tied(Whole):
    """Your projection shares its weights with an embedding, as the paper's does; here each has weights of its own."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
        self.proj.weight = self.tgt_emb.weight


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class multiplied_by_d_model(Whole):
    """You multiply the embeddings by d_model; it is its root."""

    def embed(self, embedding, tokens):
        return self.dropout(self.pos(embedding(tokens) * self.root**2))


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class divided_by_the_root_of_d_model(Whole):
    """You divide the embeddings by the root of d_model; they are multiplied, or the positions drown them."""

    def embed(self, embedding, tokens):
        return self.dropout(self.pos(embedding(tokens) / self.root))


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class root_in_the_encoder_only(Whole):
    """You multiply the source's embeddings by the root of d_model, and not the target's."""

    def embed(self, embedding, tokens):
        return self.dropout(self.pos(embedding(tokens) * (self.root if embedding is self.src_emb else 1.0)))


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class positions_in_the_encoder_only(Whole):
    """The target gets no positions; both sides have to know the order of their words."""

    def embed(self, embedding, tokens):
        scaled = embedding(tokens) * self.root
        return self.dropout(self.pos(scaled) if embedding is self.src_emb else scaled)


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class positions_added_twice_to_the_target(Whole):
    """Your `decode` adds the positions twice; they are added once, to the scaled embeddings."""

    def embed(self, embedding, tokens):
        x = self.pos(embedding(tokens) * self.root)
        return self.dropout(x if embedding is self.src_emb else self.pos(x))


# --- what the decoder layers read ------------------------------------------------------------------------------


@whole.misconception(see=f"{CHAPTER}#mistake-cross-attention")
class target_given_for_the_source(Whole):
    """You give your decoder layers the target in place of `enc_out`, so no word of the source is read."""

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        x = self.embed(self.tgt_emb, tgt)
        for layer in self.decoder:
            x = layer(x, x, tgt_mask, tgt_mask)
        return x


@whole.misconception(see=f"{CHAPTER}#mistake-stack")
class source_overwritten_by_a_layer(Whole):
    """You overwrite `enc_out` with what a decoder layer gave; every decoder layer reads the encoder's output."""

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        x = self.embed(self.tgt_emb, tgt)
        for layer in self.decoder:
            x = enc_out = layer(x, enc_out, src_mask, tgt_mask)
        return x


# --- masks and dropout -----------------------------------------------------------------------------------------


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class mask_makers_take_self(Whole):
    """A mask maker of yours takes `self`, so it cannot be called on the class; make it a @staticmethod."""

    def make_pad_mask(self, seq, pad_idx=0):
        return (seq != pad_idx)[:, None, None, :]

    def make_causal_mask(self, size):
        return torch.ones(size, size, dtype=torch.bool).tril()


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class causal_where_none_is_given(Whole):
    """Your `forward` makes a causal mask where none is given; without tgt_mask every token may be read."""

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        causal = self.make_causal_mask(tgt.size(1))
        return super().forward(src, tgt, src_mask, causal if tgt_mask is None else tgt_mask)


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class masks_made_in_forward(Whole):
    """Your `forward` makes its masks itself where none are given; without a mask every token may be read."""

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        src_mask = self.make_pad_mask(src) if src_mask is None else src_mask
        if tgt_mask is None:
            tgt_mask = self.make_pad_mask(tgt) & self.make_causal_mask(tgt.size(1))
        return super().forward(src, tgt, src_mask, tgt_mask)


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class masks_changed_over_for_the_layers(Whole):
    """You give the decoder's layers the masks in another order: it is `layer(x, enc_out, src_mask, tgt_mask)`."""

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        return super().decode(tgt, enc_out, tgt_mask, src_mask)


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class masks_changed_over_for_decode(Whole):
    """Your `forward` gives `decode` the masks in another order: it is `decode(tgt, enc_out, src_mask, tgt_mask)`."""

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        return self.proj(self.decode(tgt, self.encode(src, src_mask), tgt_mask, src_mask))


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class source_mask_for_both_attentions(Whole):
    """You give the decoder's layers src_mask twice; the second mask is tgt_mask, for their self-attention."""

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        return super().decode(tgt, enc_out, src_mask, src_mask)


@whole.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_not_passed_to_the_encoder(Whole):
    """Your encoder layers keep their default dropout of 0.1; pass the model's `dropout` on to them."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers)])


@whole.misconception(see=f"{CHAPTER}#mistake-dropout")
class dropout_not_passed_to_the_decoder(Whole):
    """Your decoder layers keep their default dropout of 0.1; pass the model's `dropout` on to them."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
        self.decoder = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers)])


@whole.misconception(see=f"{CHAPTER}#mistake-dropout")
class embeddings_dropped_at_a_fixed_rate(Whole):
    """The dropout of your embeddings always drops a tenth; the constructor says how much."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
        self.dropout = nn.Dropout(0.1)


@whole.misconception(see=f"{CHAPTER}#mistake-dropout")
class embeddings_dropped_in_eval_mode_too(Whole):
    """The dropout of your embeddings acts in eval mode as well: `F.dropout` does so unless told `self.training`."""

    def embed(self, embedding, tokens):
        return nn.functional.dropout(self.pos(embedding(tokens) * self.root), self.dropout.p)
