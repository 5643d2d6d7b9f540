"""Right answers to the exercise Transformer of chapter 08, each written in another way."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.reference.positional_encoding import PositionalEncoding
from autograder.reference.transformer import DecoderLayer, EncoderLayer
from autograder.right_answers import right_answer


@right_answer("Transformer")
class PlainLoops(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__()
        self.d_model = d_model
        self.src_emb = nn.Embedding(src_vocab, d_model)
        self.tgt_emb = nn.Embedding(tgt_vocab, d_model)
        self.pos_enc = PositionalEncoding(d_model, max_len)
        self.encoder = nn.ModuleList()
        self.decoder = nn.ModuleList()
        for _ in range(num_layers):
            self.encoder.append(EncoderLayer(d_model, num_heads, d_ff, dropout))
            self.decoder.append(DecoderLayer(d_model, num_heads, d_ff, dropout))
        self.proj = nn.Linear(d_model, tgt_vocab)
        self.dropout = nn.Dropout(dropout)

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        return (seq != pad_idx).unsqueeze(1).unsqueeze(2)

    @staticmethod
    def make_causal_mask(size):
        return torch.tril(torch.ones(size, size)).bool()

    def encode(self, src, src_mask=None):
        x = self.dropout(self.pos_enc(self.src_emb(src) * math.sqrt(self.d_model)))
        for layer in self.encoder:
            x = layer(x, src_mask)
        return x

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        x = self.dropout(self.pos_enc(self.tgt_emb(tgt) * math.sqrt(self.d_model)))
        for layer in self.decoder:
            x = layer(x, enc_out, src_mask, tgt_mask)
        return x

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        enc_out = self.encode(src, src_mask)
        return self.proj(self.decode(tgt, enc_out, src_mask, tgt_mask))


@right_answer("Transformer")
class WithXavier(nn.Module):
    """Starts from another place, which is not asked."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__()
        self.encoder = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        self.decoder = nn.ModuleList([DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers)])
        self.src_emb, self.tgt_emb = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.positions, self.proj = PositionalEncoding(d_model, max_len), nn.Linear(d_model, tgt_vocab)
        self.root = d_model**0.5
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        return seq.ne(pad_idx)[:, None, None]

    @staticmethod
    def make_causal_mask(size):
        places = torch.arange(size)
        return places <= places.unsqueeze(1)

    def encode(self, src, src_mask=None):
        x = self.positions(self.root * self.src_emb(src))
        for i in range(len(self.encoder)):
            x = self.encoder[i](x, mask=src_mask)
        return x

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        x = self.positions(self.root * self.tgt_emb(tgt))
        for i in range(len(self.decoder)):
            x = self.decoder[i](x, enc_out, src_mask=src_mask, tgt_mask=tgt_mask)
        return x

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        hidden = self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask)
        return F.linear(hidden, self.proj.weight, self.proj.bias)


@right_answer("Transformer")
class OneEmbedForBoth(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__()
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout}
        self.src_emb = nn.Embedding(num_embeddings=src_vocab, embedding_dim=d_model)
        self.tgt_emb = nn.Embedding(num_embeddings=tgt_vocab, embedding_dim=d_model)
        self.encoder = nn.ModuleList(EncoderLayer(**sizes) for _ in range(num_layers))
        self.decoder = nn.ModuleList(DecoderLayer(**sizes) for _ in range(num_layers))
        self.pe = PositionalEncoding(d_model, max_len)
        self.proj = nn.Linear(d_model, tgt_vocab)
        self.rate = dropout

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        batch, length = seq.shape
        return torch.logical_not(seq == pad_idx).view(batch, 1, 1, length)

    @staticmethod
    def make_causal_mask(size):
        return ~torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)

    def embed(self, embedding, tokens):
        vectors = embedding.weight[tokens]
        vectors = self.pe(vectors * vectors.size(-1) ** 0.5)
        return F.dropout(vectors, p=self.rate, training=self.training)

    def run(self, layers, x, *rest):
        for layer in layers:
            x = layer(x, *rest)
        return x

    def encode(self, src, src_mask=None):
        return self.run(self.encoder, self.embed(self.src_emb, src), src_mask)

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        return self.run(self.decoder, self.embed(self.tgt_emb, tgt), enc_out, src_mask, tgt_mask)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        memory = self.encode(src, src_mask)
        return self.proj(self.decode(tgt, memory, src_mask, tgt_mask))


@right_answer("Transformer")
class Recursive(nn.Module):
    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.src_emb, self.tgt_emb = (nn.Embedding(size, d_model) for size in (src_vocab, tgt_vocab))
        self.pos, self.drop = PositionalEncoding(d_model, max_len=max_len), nn.Dropout(p=dropout)
        self.encoder = nn.ModuleList(self.stack(EncoderLayer, num_layers, d_model, num_heads, d_ff, dropout))
        self.decoder = nn.ModuleList(self.stack(DecoderLayer, num_layers, d_model, num_heads, d_ff, dropout))
        self.proj = nn.Linear(in_features=d_model, out_features=tgt_vocab)

    @staticmethod
    def stack(kind, number, *sizes):
        return [kind(*sizes), *Recursive.stack(kind, number - 1, *sizes)] if number else []

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        return torch.stack([row != pad_idx for row in seq])[:, None, None, :]

    @staticmethod
    def make_causal_mask(size):
        return torch.tensor([[j <= i for j in range(size)] for i in range(size)])

    def encode(self, src, src_mask=None, depth=None):
        depth = len(self.encoder) if depth is None else depth
        if depth == 0:
            return self.drop(self.pos(self.src_emb(src).mul(self.scale)))
        return self.encoder[depth - 1](self.encode(src, src_mask, depth - 1), src_mask)

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None, depth=None):
        depth = len(self.decoder) if depth is None else depth
        if depth == 0:
            return self.drop(self.pos(self.tgt_emb(tgt).mul(self.scale)))
        below = self.decode(tgt, enc_out, src_mask, tgt_mask, depth - 1)
        return self.decoder[depth - 1](below, enc_out, src_mask, tgt_mask)

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        return self.proj(self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask))


@right_answer("Transformer")
class OneHotEmbeddings(nn.Module):
    """An embedding is the product of a one-hot row with the table."""

    def __init__(self, src_vocab, tgt_vocab, d_model=512, num_heads=8, num_layers=6, d_ff=2048, max_len=5000,
                 dropout=0.1):
        super().__init__()
        self.src_emb = nn.Embedding(src_vocab, d_model)
        self.tgt_emb = nn.Embedding(tgt_vocab, d_model)
        self.positional_encoding = PositionalEncoding(d_model, max_len)
        self.encoder = nn.ModuleList([])
        self.encoder.extend(EncoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.decoder = nn.ModuleList([])
        self.decoder.extend(DecoderLayer(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.proj = nn.Linear(d_model, tgt_vocab, bias=True)

    @staticmethod
    def make_pad_mask(seq, pad_idx=0):
        return torch.where(seq == pad_idx, False, True)[:, None, None, :]

    @staticmethod
    def make_causal_mask(size):
        return torch.ones(size, size).cumsum(dim=1) <= torch.arange(1, size + 1).unsqueeze(1)

    def embed(self, tokens, table):
        one_hot = F.one_hot(tokens, num_classes=len(table)).to(table.dtype)
        return self.positional_encoding(one_hot @ table * math.sqrt(table.size(1)))

    def encode(self, src, src_mask=None):
        states = [self.embed(src, self.src_emb.weight)]
        for layer in self.encoder:
            states.append(layer(states[-1], src_mask))
        return states[-1]

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        states = [self.embed(tgt, self.tgt_emb.weight)]
        for layer in self.decoder:
            states.append(layer(states[-1], enc_out, src_mask, tgt_mask))
        return states[-1]

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        hidden = self.decode(tgt, self.encode(src, src_mask), src_mask, tgt_mask)
        return hidden @ self.proj.weight.T + self.proj.bias


@right_answer("Transformer")
class MasksAsFunctions(nn.Module):
    def __init__(self, src_vocab: int, tgt_vocab: int, d_model: int = 512, num_heads: int = 8, num_layers: int = 6,
                 d_ff: int = 2048, max_len: int = 5000, dropout: float = 0.1):
        super().__init__()
        self.src_emb, self.tgt_emb = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.src_pos, self.tgt_pos = PositionalEncoding(d_model, max_len), PositionalEncoding(d_model, max_len)
        both = [(EncoderLayer(d_model, num_heads, d_ff, dropout), DecoderLayer(d_model, num_heads, d_ff, dropout))
                for _ in range(num_layers)]
        self.encoder = nn.ModuleList([encoder for encoder, _ in both])
        self.decoder = nn.ModuleList([decoder for _, decoder in both])
        self.dropout, self.proj = nn.Dropout(dropout), nn.Linear(d_model, tgt_vocab)

    make_pad_mask = staticmethod(lambda seq, pad_idx=0: (seq != pad_idx)[:, None, None, :])
    make_causal_mask = staticmethod(lambda size: torch.ones((size, size), dtype=torch.bool).tril_(0))

    def encode(self, src, src_mask=None):
        root = torch.sqrt(torch.FloatTensor([self.src_emb.embedding_dim]))
        x = self.dropout(self.src_pos(self.src_emb(src) * root))
        for layer in iter(self.encoder):
            x = layer(x, src_mask)
        return x

    def decode(self, tgt, enc_out, src_mask=None, tgt_mask=None):
        root = torch.tensor(self.tgt_emb.embedding_dim, dtype=self.tgt_emb.weight.dtype).sqrt()
        x = self.dropout(self.tgt_pos(self.tgt_emb(tgt) * root))
        for layer in iter(self.decoder):
            x = layer(x=x, enc_out=enc_out, src_mask=src_mask, tgt_mask=tgt_mask)
        return x

    def forward(self, src, tgt, src_mask=None, tgt_mask=None):
        return self.proj(self.decode(tgt=tgt, enc_out=self.encode(src, src_mask), src_mask=src_mask,
                                     tgt_mask=tgt_mask))
