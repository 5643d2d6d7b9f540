"""Right answers to the two modules of chapter 02. A decoder's step stands alone, so it brings an attention along."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.right_answers import right_answer

# --- AdditiveAttention -----------------------------------------------------------------------------------------


@right_answer("AdditiveAttention")
class FilledAndCleared(nn.Module):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, state, encoder_states, mask=None):
        energy = torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(encoder_states))
        scores = self.v(energy).squeeze(-1)
        if mask is None:
            mask = torch.ones_like(scores, dtype=torch.bool)
        weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
        return torch.bmm(weights.unsqueeze(1), encoder_states).squeeze(1), weights


@right_answer("AdditiveAttention")
class NanReplaced(nn.Module):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.v = nn.Linear(in_features=attention_dim, out_features=1, bias=False)
        self.W_h = nn.Linear(in_features=encoder_dim, out_features=attention_dim, bias=False)
        self.W_s = nn.Linear(in_features=decoder_dim, out_features=attention_dim, bias=False)

    def forward(self, state, encoder_states, mask=None):
        query = self.W_s(state)[:, None, :]
        keys = self.W_h(encoder_states)
        scores = self.v((query + keys).tanh())[..., 0]
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        weights = F.softmax(scores, dim=1).nan_to_num()
        return torch.einsum("bj,bjd->bd", weights, encoder_states), weights


@right_answer("AdditiveAttention")
class WeightsUsedDirectly(nn.Module):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, state, encoder_states, mask=None):
        total = (state @ self.W_s.weight.T).unsqueeze(1) + encoder_states @ self.W_h.weight.T
        scores = torch.tanh(total) @ self.v.weight[0]
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            nothing = ~mask.any(dim=-1, keepdim=True)
            weights = torch.softmax(scores.masked_fill(~mask & ~nothing, -torch.inf), -1).masked_fill(~mask, 0)
        return (weights.unsqueeze(-1) * encoder_states).sum(dim=1), weights


@right_answer("AdditiveAttention")
class SentenceBySentence(nn.Module):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def attend(self, s, states, real):
        scores = self.v(torch.tanh(self.W_s(s) + self.W_h(states))).view(-1)
        weights = torch.zeros_like(scores)
        if real.any():
            weights[real] = scores[real].softmax(dim=0)
        return weights @ states, weights

    def forward(self, state, encoder_states, mask=None):
        if mask is None:
            mask = [torch.ones(encoder_states.size(1), dtype=torch.bool)] * len(state)
        pairs = [self.attend(s, states, real) for s, states, real in zip(state, encoder_states, mask, strict=True)]
        contexts, weights = zip(*pairs, strict=True)
        return torch.stack(contexts), torch.stack(weights)


@right_answer("AdditiveAttention")
class OneMatrixProduct(nn.Module):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.W_s, self.W_h = (nn.Linear(size, attention_dim, bias=False) for size in (decoder_dim, encoder_dim))
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, state, encoder_states, mask=None):
        both = torch.cat([state.unsqueeze(1).expand(-1, encoder_states.size(1), -1), encoder_states], dim=-1)
        scores = self.v(F.linear(both, torch.cat([self.W_s.weight, self.W_h.weight], dim=1)).tanh()).flatten(1)
        exponentials = (scores - scores.amax(dim=1, keepdim=True).detach()).exp()
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
            exponentials = (scores - scores.amax(dim=1, keepdim=True)).exp().masked_fill(~mask, 0)
        weights = exponentials / exponentials.sum(dim=1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)
        return torch.matmul(weights[:, None], encoder_states)[:, 0], weights


@right_answer("AdditiveAttention")
class InSmallMethods(nn.Module):
    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)
        self.tanh, self.softmax = nn.Tanh(), nn.Softmax(dim=-1)

    def score(self, state, encoder_states):
        src = encoder_states.size(1)
        repeated = state.unsqueeze(1).repeat(1, src, 1)
        return self.v(self.tanh(self.W_s(repeated) + self.W_h(encoder_states))).squeeze(2)

    def normalise(self, scores, mask):
        if mask is None:
            return self.softmax(scores)
        weights = torch.zeros_like(scores)
        some = mask.any(dim=1)
        weights[some] = self.softmax(scores[some].masked_fill(~mask[some], float("-inf")))
        return weights

    def forward(self, state, encoder_states, mask=None):
        weights = self.normalise(self.score(state, encoder_states), mask)
        return torch.sum(weights.unsqueeze(2) * encoder_states, 1), weights


# --- BahdanauDecoderStep ---------------------------------------------------------------------------------------


class Attention(nn.Module):
    """What a step brings along; in a notebook it would be the AdditiveAttention above it."""

    def __init__(self, decoder_dim, encoder_dim, attention_dim):
        super().__init__()
        self.W_s = nn.Linear(decoder_dim, attention_dim, bias=False)
        self.W_h = nn.Linear(encoder_dim, attention_dim, bias=False)
        self.v = nn.Linear(attention_dim, 1, bias=False)

    def forward(self, state, encoder_states, mask=None):
        scores = self.v(torch.tanh(self.W_s(state).unsqueeze(1) + self.W_h(encoder_states))).squeeze(-1)
        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1) * mask
        return (weights.unsqueeze(-1) * encoder_states).sum(1), weights


@right_answer("BahdanauDecoderStep")
class LookReadSpeak(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.attention = Attention(hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def forward(self, token, state, encoder_states, mask=None):
        context, weights = self.attention(state, encoder_states, mask)
        embedded = self.embedding(token)
        new_state = self.cell(torch.cat((context, embedded), dim=1), state)
        logits = self.out(new_state)
        return logits, new_state, weights


@right_answer("BahdanauDecoderStep")
class WithKeywords(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__()
        self.out = nn.Linear(in_features=hidden_dim, out_features=vocab_size)
        self.cell = nn.GRUCell(input_size=encoder_dim + embed_dim, hidden_size=hidden_dim)
        self.attention = Attention(encoder_dim=encoder_dim, attention_dim=attention_dim, decoder_dim=hidden_dim)
        self.embedding = nn.Embedding(num_embeddings=vocab_size, embedding_dim=embed_dim)

    def forward(self, token, state, encoder_states, mask=None):
        looked = self.attention(state=state, encoder_states=encoder_states, mask=mask)
        state = self.cell(input=torch.hstack([looked[0], self.embedding(token)]), hx=state)
        return self.out(state), state, looked[1]


@right_answer("BahdanauDecoderStep")
class EmbeddingIndexed(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.attention = Attention(hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def forward(self, token, state, encoder_states, mask=None):
        _, weights = self.attention.forward(state, encoder_states, mask)
        context = torch.einsum("bj,bjd->bd", weights, encoder_states)  # the same mixture once more
        read = torch.cat([context, self.embedding.weight[token]], dim=-1)
        new_state = self.cell(read, state)
        return F.linear(new_state, self.out.weight, self.out.bias), new_state, weights


@right_answer("BahdanauDecoderStep")
class GatesWrittenOut(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.attention = Attention(hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def gru(self, x, h):
        x_r, x_z, x_n = (x @ self.cell.weight_ih.T + self.cell.bias_ih).chunk(3, dim=-1)
        h_r, h_z, h_n = (h @ self.cell.weight_hh.T + self.cell.bias_hh).chunk(3, dim=-1)
        reset, update = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
        return (1 - update) * torch.tanh(x_n + reset * h_n) + update * h

    def forward(self, token, state, encoder_states, mask=None):
        context, weights = self.attention(state, encoder_states, mask)
        new_state = self.gru(torch.cat([context, F.embedding(token, self.embedding.weight)], -1), state)
        return self.out(new_state), new_state, weights


@right_answer("BahdanauDecoderStep")
class RowByRow(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.attention = Attention(hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def forward(self, token, state, encoder_states, mask=None):
        results = []
        for b in range(token.size(0)):
            real = None if mask is None else mask[b : b + 1]
            context, weights = self.attention(state[b : b + 1], encoder_states[b : b + 1], real)
            new_state = self.cell(torch.cat([context, self.embedding(token[b : b + 1])], dim=1), state[b : b + 1])
            results.append((self.out(new_state), new_state, weights))
        return tuple(torch.cat(parts) for parts in zip(*results, strict=True))


@right_answer("BahdanauDecoderStep")
class AttentionTakenApart(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim, encoder_dim, attention_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.attention = Attention(hidden_dim, encoder_dim, attention_dim)
        self.cell = nn.GRUCell(encoder_dim + embed_dim, hidden_dim)
        self.out = nn.Linear(hidden_dim, vocab_size)

    def forward(self, token, state, encoder_states, mask=None):
        look = self.attention
        scores = look.v(torch.tanh(look.W_s(state)[:, None] + look.W_h(encoder_states)))[..., 0]
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(-1)
        context = (weights[:, None] @ encoder_states)[:, 0]
        state = self.cell(torch.cat([context, self.embedding(token)], -1), state)
        return self.out(state), state, weights
