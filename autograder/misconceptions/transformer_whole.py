"""Chapter 08: the mistakes that are named in Transformer, each a wrong module that stands alone."""

import math

import torch
from torch import nn

from autograder.exercises.transformer import CHAPTER, whole
from autograder.reference.positional_encoding import PositionalEncoding
from autograder.reference.transformer import DecoderLayer, EncoderLayer


class Whole(nn.Module):
    """What the wrong models below have in common: all is right, and each of them replaces one part."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__()
        self.root = math.sqrt(d_model)
        self.src_emb, self.tgt_emb = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.pos = PositionalEncoding(d_model, max_len)
        sizes = d_model, num_heads, d_ff, dropout
        self.encoder = nn.ModuleList([EncoderLayer(*sizes) for _ in range(num_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(*sizes) for _ in range(num_layers)])
        self.proj = nn.Linear(d_model, tgt_vocab)
        self.dropout = nn.Dropout(dropout)

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        return (seq != pad_idx)[:, None, None, :]

    @staticmethod
    def make_causal_mask(size):
        return torch.ones(size, size, dtype=torch.bool).tril()

    def embed(self, embedding, tokens):
        return self.dropout(self.pos(embedding(tokens) * self.root))

    def encode(self, src, src_mask=None):
        x = self.embed(self.src_emb, src)
        for layer in self.encoder:
            x = layer(x, src_mask)
        return x

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        x = self.embed(self.tgt_emb, tgt)
        for layer in self.decoder:
            x = layer(x, enc_out, src_mask, tgt_mask)
        return x

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        return self.proj(self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask))


# --- embeddings and positions ----------------------------------------------------------------------------------


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class embeddings_not_scaled(Whole):
    """You do not multiply the embeddings by the root of d_model; the positions then drown them."""

    def embed(self, embedding, tokens):
        return self.dropout(self.pos(embedding(tokens)))


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class positions_scaled_too(Whole):
    """You multiply by the root of d_model after the positions were added; only the embeddings are scaled."""

    def embed(self, embedding, tokens):
        return self.dropout(self.pos(embedding(tokens)) * self.root)


@whole.misconception(see=f"{CHAPTER}#mistake-embedding")
class no_positions(Whole):
    """You add no positions, so the model cannot tell one order of the words from another."""

    def embed(self, embedding, tokens):
        return self.dropout(embedding(tokens) * self.root)


# --- the two stacks --------------------------------------------------------------------------------------------


@whole.misconception(see=f"{CHAPTER}#mistake-stack")
class one_layer_many_times(Whole):
    """Your stack is one layer many times over: `[layer] * N` holds the same weights N times."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
        self.encoder = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout)] * num_layers)
        self.decoder = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout)] * num_layers)


@whole.misconception(see=f"{CHAPTER}#mistake-stack")
class layers_in_a_plain_list(Whole):
    """Your layers stand in a plain list, so the model does not know their parameters; use nn.ModuleList."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
        layers = list(self.encoder), list(self.decoder)
        del self.encoder, self.decoder
        self.encoder, self.decoder = layers


@whole.misconception(see=f"{CHAPTER}#mistake-stack")
class every_layer_reads_the_embeddings(Whole):
    """Each of your encoder layers starts from the embeddings; a layer reads what the one before it gave."""

    def encode(self, src, src_mask=None):
        x = out = self.embed(self.src_emb, src)
        for layer in self.encoder:
            out = layer(x, src_mask)
        return out


@whole.misconception(see=f"{CHAPTER}#mistake-stack")
class layer_beside_layer(Whole):
    """Your decoder layer i reads encoder layer i; every decoder layer reads the last encoder layer's output."""

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        enc_out, x = self.embed(self.src_emb, src), self.embed(self.tgt_emb, tgt)
        for below, layer in zip(self.encoder, self.decoder, strict=True):
            enc_out = below(enc_out, src_mask)
            x = layer(x, enc_out, src_mask, tgt_mask)
        return self.proj(x)


@whole.misconception(see=f"{CHAPTER}#mistake-stack")
class source_embedded_only(Whole):
    """Your decoder reads the embedded source; the encoder layers have not been run."""

    def encode(self, src, src_mask=None):
        return self.embed(self.src_emb, src)


@whole.misconception(see=f"{CHAPTER}#mistake-norm-place")
class normalised_at_the_end(Whole):
    """You normalise once more after the last layer; Post-LN layers end with a norm, so none is asked for here."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, dropout)
        self.norm = nn.LayerNorm(d_model)

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        return self.norm(super().decode(tgt, enc_out, src_mask, tgt_mask))


# --- masks -----------------------------------------------------------------------------------------------------


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class source_mask_in_the_encoder_only(Whole):
    """Your decoder does not get src_mask, so cross-attention reads the padding of the source."""

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        return super().decode(tgt, enc_out, None, tgt_mask)


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class source_mask_in_the_decoder_only(Whole):
    """Your encoder does not get src_mask, so its tokens read the padding."""

    def encode(self, src, src_mask=None):
        return super().encode(src, None)


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class target_mask_lost(Whole):
    """Your decoder layers do not get tgt_mask, so a word sees the words that it should predict."""

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        return super().decode(tgt, enc_out, src_mask, None)


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class pad_mask_turned_around(Whole):
    """Your make_pad_mask is True where padding stands; True means that a token may be read."""

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        return (seq == pad_idx)[:, None, None, :]


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class pad_is_always_zero(Whole):
    """Your make_pad_mask compares with 0; its second argument says which token is padding."""

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        return (seq != 0)[:, None, None, :]


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class causal_mask_turned_around(Whole):
    """Your make_causal_mask is True for the future; True means that a token may be read."""

    @staticmethod
    def make_causal_mask(size):
        return torch.ones(size, size, dtype=torch.bool).triu(diagonal=1)


@whole.misconception(see=f"{CHAPTER}#mistake-two-masks")
class causal_mask_without_the_diagonal(Whole):
    """Your make_causal_mask forbids a token to read itself; the diagonal is True."""

    @staticmethod
    def make_causal_mask(size):
        return torch.ones(size, size, dtype=torch.bool).tril(diagonal=-1)


# --- what comes out --------------------------------------------------------------------------------------------


@whole.misconception(see=f"{CHAPTER}#mistake-logits")
class probabilities_returned(Whole):
    """You return probabilities; the loss takes a softmax itself, so `forward` gives logits."""

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        return torch.softmax(super().forward(src, tgt, src_mask, tgt_mask), dim=-1)


@whole.misconception(see=f"{CHAPTER}#mistake-logits")
class hidden_states_returned(Whole):
    """Your `forward` returns hidden states; the projection to the target's vocabulary is missing."""

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        return self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask)


@whole.misconception(see=f"{CHAPTER}#mistake-logits")
class decode_projects_already(Whole):
    """Your `decode` gives logits; it gives hidden states, and `forward` projects them."""

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        return self.proj(super().decode(tgt, enc_out, src_mask, tgt_mask))

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        return self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask)


@whole.misconception(see=f"{CHAPTER}#mistake-dropout")
class layers_with_their_own_dropout(Whole):
    """Your layers keep their default dropout of 0.1; pass the model's `dropout` on to them."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__(src_vocab, tgt_vocab, d_model, num_heads, num_layers, d_ff, max_len, 0.1)
        self.dropout = nn.Dropout(dropout)
