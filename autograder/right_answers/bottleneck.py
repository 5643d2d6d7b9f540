"""Right answers to the exercises of chapter 01, each written in another way: the batch, the loss and the encoder."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from autograder.right_answers import right_answer

# --- teacher_forcing_batch -------------------------------------------------------------------------------------


@right_answer("teacher_forcing_batch")
def with_pad_sequence(targets, bos, eos, pad):
    fed = [torch.tensor([bos, *tokens]) for tokens in targets]
    said = [torch.tensor([*tokens, eos]) for tokens in targets]
    return (pad_sequence(fed, batch_first=True, padding_value=pad),
            pad_sequence(said, batch_first=True, padding_value=pad))


@right_answer("teacher_forcing_batch")
def filled_row_by_row(targets, bos, eos, pad):
    width = max(len(tokens) for tokens in targets) + 1
    decoder_input = torch.full((len(targets), width), pad, dtype=torch.long)
    decoder_target = torch.full((len(targets), width), pad, dtype=torch.long)
    decoder_input[:, 0] = bos
    for row, tokens in enumerate(targets):
        n = len(tokens)
        decoder_input[row, 1:n + 1] = torch.tensor(tokens)
        decoder_target[row, :n] = torch.tensor(tokens)
        decoder_target[row, n] = eos
    return decoder_input, decoder_target


@right_answer("teacher_forcing_batch")
def lists_all_the_way(targets, bos, eos, pad):
    longest = max(map(len, targets))
    decoder_input, decoder_target = [], []
    for tokens in targets:
        fed, said = [bos], []
        fed += tokens
        said += tokens
        said.append(eos)
        fed += [pad] * (longest - len(tokens))
        said.extend(pad for _ in range(longest - len(tokens)))
        decoder_input.append(fed)
        decoder_target.append(said)
    return torch.LongTensor(decoder_input), torch.LongTensor(decoder_target)


@right_answer("teacher_forcing_batch")
def one_full_row_then_two_slices(targets, bos, eos, pad):
    width = max(map(len, targets)) + 2
    full = torch.tensor([[bos, *tokens, eos] + [pad] * (width - len(tokens) - 2) for tokens in targets])
    fed = full[:, :-1].clone()
    lengths = torch.tensor([len(tokens) for tokens in targets])
    fed[torch.arange(width - 1) > lengths.unsqueeze(1)] = pad  # in shorter rows the slice still holds eos
    return [fed, full[:, 1:]]


@right_answer("teacher_forcing_batch")
def word_by_word(targets, bos, eos, pad):
    steps = max(map(len, targets)) + 1
    fed = torch.empty(len(targets), steps, dtype=torch.int64)
    said = torch.empty_like(fed)
    for i, sentence in enumerate(targets):
        for t in range(steps):
            fed[i, t] = bos if t == 0 else sentence[t - 1] if t <= len(sentence) else pad
            said[i, t] = sentence[t] if t < len(sentence) else eos if t == len(sentence) else pad
    return fed, said


@right_answer("teacher_forcing_batch")
def padded_with_f_pad(targets, bos, eos, pad):
    rows = [torch.tensor(tokens, dtype=torch.int64) for tokens in targets]
    width = max(row.numel() for row in rows) + 1
    fed = [F.pad(F.pad(row, (1, 0), value=bos), (0, width - row.numel() - 1), value=pad) for row in rows]
    said = [F.pad(F.pad(row, (0, 1), value=eos), (0, width - row.numel() - 1), value=pad) for row in rows]
    return torch.stack(fed), torch.stack(said)


@right_answer("teacher_forcing_batch")
def padded_then_placed(targets, bos, eos, pad):
    longest = max(map(len, targets))
    lengths = torch.as_tensor([len(tokens) for tokens in targets])
    words = torch.as_tensor([tokens + [pad] * (longest - len(tokens)) for tokens in targets])
    first = torch.full((len(targets), 1), bos)
    decoder_target = torch.cat([words, torch.full((len(targets), 1), pad)], dim=1)
    decoder_target = decoder_target.scatter(1, lengths.unsqueeze(1), eos)
    return torch.hstack([first, words]), decoder_target


@right_answer("teacher_forcing_batch")
def grown_on_copies(targets, bos, eos, pad):
    width = 1 + max(map(len, targets))
    results = []
    for front, back in (([bos], []), ([], [eos])):
        rows = [front + list(tokens) + back for tokens in targets]
        for row in rows:
            while len(row) < width:
                row.append(pad)
        results.append(torch.tensor(rows))
    return tuple(results)


# --- masked_cross_entropy --------------------------------------------------------------------------------------


@right_answer("masked_cross_entropy")
def pad_index_ignored(logits, target, pad):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad)


@right_answer("masked_cross_entropy")
def flattened(logits, target, pad):
    loss = nn.CrossEntropyLoss(ignore_index=pad)
    return loss(logits.reshape(-1, logits.size(-1)), target.reshape(-1))


@right_answer("masked_cross_entropy")
def losses_times_mask(logits, target, pad):
    mask = (target != pad).to(logits.dtype)
    losses = F.cross_entropy(logits.permute(0, 2, 1), target, reduction="none")
    return (losses * mask).sum() / mask.sum()


@right_answer("masked_cross_entropy")
def gathered(logits, target, pad):
    log_probabilities = logits.log_softmax(dim=-1).gather(2, target[..., None])[..., 0]
    return -log_probabilities.masked_select(target.ne(pad)).mean()


@right_answer("masked_cross_entropy")
def with_logsumexp(logits, target, pad):
    chosen = torch.take_along_dim(logits, target.unsqueeze(-1), dim=-1).squeeze(-1)
    losses = torch.logsumexp(logits, dim=-1) - chosen
    return torch.where(target == pad, 0.0, losses).sum() / (target != pad).sum()


@right_answer("masked_cross_entropy")
def one_hot_products(logits, target, pad):
    one_hot = F.one_hot(target, num_classes=logits.size(-1)) * (target != pad).unsqueeze(-1)
    return -(one_hot * F.log_softmax(logits, dim=-1)).sum() / one_hot.sum()


@right_answer("masked_cross_entropy")
def negative_log_likelihood(logits, target, pad):
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    log_probabilities = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    return F.nll_loss(log_probabilities.flatten(0, 1), target.flatten(), ignore_index=pad, reduction="mean")


@right_answer("masked_cross_entropy")
def token_by_token(logits, target, pad):
    total, count = 0, 0
    for scores, words in zip(logits, target, strict=True):
        for score, word in zip(scores, words, strict=True):
            if word.item() != pad:
                total = total - torch.log_softmax(score, dim=0)[word]
                count += 1
    return total / count


@right_answer("masked_cross_entropy")
def weights_by_class(logits, target, pad):
    weight = torch.ones(logits.size(-1), dtype=logits.dtype, device=logits.device)
    weight[pad] = 0
    return F.cross_entropy(logits.flatten(end_dim=1), target.flatten(), weight=weight)


# --- Encoder ---------------------------------------------------------------------------------------------------


@right_answer("Encoder")
class Packed(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True)

    def forward(self, source, lengths):
        packed = pack_padded_sequence(self.embedding(source), lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, last = self.rnn(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.size(1))
        return states, last.squeeze(0)


@right_answer("Encoder")
class SortedPackedAndPutBack(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, num_layers=1, batch_first=True)

    def forward(self, source, lengths):
        ordered, order = torch.sort(lengths, descending=True)
        packed = pack_padded_sequence(self.embedding(source[order]), ordered, batch_first=True)
        states, last = self.rnn(packed)
        states, _ = pad_packed_sequence(states, batch_first=True)
        missing = source.shape[1] - states.shape[1]
        back = order.argsort()
        return F.pad(states, (0, 0, 0, missing))[back], last[-1][back]


@right_answer("Encoder")
class SentenceBySentence(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True)

    def forward(self, source, lengths):
        states, finals = [], []
        for sentence, n in zip(source, lengths.tolist(), strict=True):
            read, last = self.rnn(self.embedding(sentence[:n]).unsqueeze(0))
            behind = read.new_zeros(1, len(sentence) - n, read.size(-1))
            states.append(torch.cat([read, behind], dim=1))
            finals.append(last[0])
        return torch.cat(states), torch.cat(finals)


@right_answer("Encoder")
class StepByStep(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.hidden_dim = hidden_dim
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True)

    def forward(self, source, lengths):
        vectors = self.embedding(source)
        state = vectors.new_zeros(1, source.size(0), self.hidden_dim)
        states = []
        for t in range(source.size(1)):
            _, new = self.rnn(vectors[:, t:t + 1], state)
            going_on = (t < lengths).view(1, -1, 1)
            state = torch.where(going_on, new, state)  # a sentence that is over keeps its last state
            states.append(torch.where(going_on, new, torch.zeros_like(new)).squeeze(0))
        return torch.stack(states, dim=1), state.squeeze(0)


@right_answer("Encoder")
class Gathered(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(input_size=embed_dim, hidden_size=hidden_dim, batch_first=True)

    def forward(self, source, lengths):
        states = self.rnn(self.embedding(source))[0]
        positions = torch.arange(source.shape[1], device=source.device)[None, :]
        mask = (positions < lengths[:, None]).to(states.dtype)
        index = (lengths - 1)[:, None, None].expand(-1, 1, states.shape[-1])
        final = states.gather(1, index).squeeze(1)
        return states * mask[:, :, None], final


@right_answer("Encoder")
class TimeFirst(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim)

    def forward(self, source, lengths):
        states, _ = self.rnn(self.embedding(source.T))
        states = states.transpose(0, 1)
        kept = states.clone()
        for row, n in enumerate(lengths):
            kept[row, n:] = 0
        return kept, torch.stack([states[row, n - 1] for row, n in enumerate(lengths)])


@right_answer("Encoder")
class PickedWithEinsum(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True, dropout=0.0, bidirectional=False)

    def forward(self, source, lengths):
        batch, width = source.shape
        start = torch.zeros(1, batch, self.rnn.hidden_size, dtype=self.embedding.weight.dtype)
        states, _ = self.rnn(self.embedding(source), start)
        last = F.one_hot(lengths - 1, num_classes=width).to(states.dtype)
        final = torch.einsum("bs,bsh->bh", last, states)
        real = last.flip(1).cumsum(1).flip(1)
        return torch.einsum("bs,bsh->bsh", real, states), final
