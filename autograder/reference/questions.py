"""What later models changed inside a layer: a gated feed-forward net, and the norm in front of each sublayer.

Shape letters as in book/conventions.md: batch, heads, seq, d_model, d_ff; `...` stands for any leading axes.
"""

from torch import Tensor
from torch.nn import functional as F

from autograder.reference.transformer import EncoderLayer


def swiglu(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """(silu(x W_gate^T) * (x W_up^T)) W_down^T, silu(a) = a sigmoid(a) (Shazeer 2020, section 2, equation 6).

    x (..., d_model), w_gate, w_up (d_ff, d_model), w_down (d_model, d_ff) -> the shape of x. Three matrices, not two:
    the parameters are those of a plain net of inner width 3/2 d_ff.
    """
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T


class PreLNEncoderLayer(EncoderLayer):
    """x = x + Dropout(Attention(LayerNorm(x))), then x + Dropout(FFN(LayerNorm(x))) (Xiong et al. 2020, table 1).

    x (batch, seq, d_model), mask broadcast to (batch, heads, seq, seq), True = allowed -> the shape of x. Parts, ReLU
    and eps as in EncoderLayer; there is no norm at the end, which a stack of such layers has to add. Raises ValueError
    where num_heads does not divide d_model.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1):
        super().__init__(d_model, num_heads, d_ff, dropout, norm_first=True)
