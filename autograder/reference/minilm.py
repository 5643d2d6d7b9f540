"""BERT's encoder out of the course's own blocks, with trained weights (Devlin et al. 2019; Wang et al. 2020).

Six things differ from the encoder of chapter 8: positions are learned, a vector says which of two texts a token is of,
a LayerNorm follows the embeddings, no factor sqrt(d_model) stands before them, GELU is where ReLU was, and eps is
smaller. Shape letters as in book/conventions.md.
"""

from torch import Tensor, nn
from torch.nn import functional as F

from autograder.reference.positional_encoding import LearnedPositionalEmbedding
from autograder.reference.transformer import EncoderLayer, LayerNorm

EPS = 1e-12  # of every LayerNorm in BERT


class BertEncoder(nn.Module):
    """LayerNorm(token + position + text), then N encoder layers with exact GELU (Devlin et al. 2019, section 3).

    tokens int64 (batch, seq), mask broadcast to (batch, heads, seq, seq), True = allowed -> hidden states
    (batch, seq, d_model). All tokens count as of the first text. Raises ValueError where seq exceeds max_len.
    """

    def __init__(self, vocab: int, d_model: int, num_heads: int, num_layers: int, d_ff: int, max_len: int = 512,
                 dropout: float = 0.1):
        super().__init__()
        self.tok_emb = nn.Embedding(vocab, d_model)
        self.pos = LearnedPositionalEmbedding(max_len, d_model)
        self.text_emb = nn.Embedding(2, d_model)
        self.norm = LayerNorm(d_model, EPS)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(EncoderLayer(d_model, num_heads, d_ff, dropout, activation=F.gelu, eps=EPS)
                                    for _ in range(num_layers))

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.pos(self.tok_emb(tokens)) + self.text_emb.weight[0]
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x, mask)
        return x


# Names in Hugging Face's BertModel, and ours. The order counts: "output.dense" is a part of "attention.output.dense".
NAMES = {
    "embeddings.word_embeddings": "tok_emb",
    "embeddings.position_embeddings.weight": "pos.table",
    "embeddings.token_type_embeddings": "text_emb",
    "embeddings.LayerNorm": "norm",
    "encoder.layer": "layers",
    "attention.self.query": "self_attn.W_q",
    "attention.self.key": "self_attn.W_k",
    "attention.self.value": "self_attn.W_v",
    "attention.output.dense": "self_attn.W_o",
    "attention.output.LayerNorm": "norm1",
    "intermediate.dense": "ffn.linear1",
    "output.dense": "ffn.linear2",
    "output.LayerNorm": "norm2",
}


def from_hugging_face(bert: nn.Module) -> BertEncoder:
    """Our encoder with the weights, dtype and mode of a `transformers.BertModel`; its pooler is left out.

    Raises RuntimeError where a weight is missing, left over, or of another shape, ValueError where the model's
    activation or eps is not ours.
    """
    sizes = bert.config
    if (sizes.hidden_act, sizes.layer_norm_eps) != ("gelu", EPS):
        raise ValueError(f"The model has activation {sizes.hidden_act!r} and eps {sizes.layer_norm_eps}, but this "
                         f"encoder has 'gelu' and {EPS}; choose a checkpoint that has them too.")
    ours = BertEncoder(sizes.vocab_size, sizes.hidden_size, sizes.num_attention_heads, sizes.num_hidden_layers,
                       sizes.intermediate_size, sizes.max_position_embeddings, sizes.hidden_dropout_prob)
    weights = {_our_name(name): weight for name, weight in bert.state_dict().items() if not name.startswith("pooler.")}
    ours.to(bert.dtype).load_state_dict(weights)
    return ours.train(bert.training)


def _our_name(name: str) -> str:
    for theirs, mine in NAMES.items():
        name = name.replace(theirs, mine)
    return name


def sentence_embedding(hidden: Tensor, real: Tensor) -> Tensor:
    """The mean of the real tokens' hidden states, at length 1: their dot product is the cosine of two sentences.

    hidden (batch, seq, d_model), real bool (batch, seq), True = real, at least one in a row -> (batch, d_model)
    (Reimers and Gurevych 2019, section 3, "MEAN").
    """
    total = (hidden * real.unsqueeze(-1)).sum(dim=1)
    return F.normalize(total, dim=-1)  # the mean has the same direction
