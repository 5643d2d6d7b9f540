"""Chapter 01, what is fed and how it is scored: mistakes with the batch, the loss and the encoder."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from autograder.exercises.bottleneck import CHAPTER, encoder, masked_cross_entropy, teacher_forcing_batch

# --- teacher_forcing_batch -------------------------------------------------------------------------------------


def _filled(rows, width, pad):
    """The rows as one tensor, with pad behind them."""
    return torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows])


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-shift")
def target_not_shifted(targets, bos, eos, pad):
    """Your input and your target are the same: in each step the decoder only has to copy what it is fed."""
    rows = _filled([[bos, *tokens] for tokens in targets], max(map(len, targets)) + 1, pad)
    return rows, rows.clone()


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-shift")
def eos_missing(targets, bos, eos, pad):
    """Your target never says that a sentence is over, so the decoder cannot learn to stop."""
    width = max(map(len, targets)) + 1
    return _filled([[bos, *tokens] for tokens in targets], width, pad), _filled(targets, width, pad)


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-shift")
def bos_missing(targets, bos, eos, pad):
    """Your input begins with the first word, so the decoder is shown the word that it should say first."""
    width = max(map(len, targets)) + 1
    return _filled(targets, width, pad), _filled([[*tokens, eos] for tokens in targets], width, pad)


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-shift")
def eos_fed_in(targets, bos, eos, pad):
    """In the shorter rows of your input eos is fed as well; behind the end there is nothing left to say."""
    full = _filled([[bos, *tokens, eos] for tokens in targets], max(map(len, targets)) + 2, pad)
    return full[:, :-1], full[:, 1:]


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-shift")
def both_with_bos_and_eos(targets, bos, eos, pad):
    """Each of your tensors holds bos and eos; so they are one column too wide, and nothing is a step ahead."""
    full = _filled([[bos, *tokens, eos] for tokens in targets], max(map(len, targets)) + 2, pad)
    return full, full.clone()


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-shift")
def input_and_target_swapped(targets, bos, eos, pad):
    """You return what the decoder should say first, and what it is fed second."""
    width = max(map(len, targets)) + 1
    fed = _filled([[bos, *tokens] for tokens in targets], width, pad)
    return _filled([[*tokens, eos] for tokens in targets], width, pad), fed


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-padding-side")
def padded_on_the_left(targets, bos, eos, pad):
    """Your pads stand in front of the sentences, so the decoder begins by reading padding."""
    width = max(map(len, targets)) + 1
    pads = [[pad] * (width - len(tokens) - 1) for tokens in targets]
    pairs = list(zip(pads, targets, strict=True))
    return (torch.tensor([[*front, bos, *tokens] for front, tokens in pairs]),
            torch.tensor([[*front, *tokens, eos] for front, tokens in pairs]))


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-shift")
def eos_behind_the_padding(targets, bos, eos, pad):
    """Your eos stands in the last column, behind the pads, and not behind the last word of its sentence."""
    width = max(map(len, targets)) + 1
    target = _filled(targets, width, pad)
    target[:, -1] = eos
    return _filled([[bos, *tokens] for tokens in targets], width, pad), target


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-padding-side")
def longest_sentence_cut(targets, bos, eos, pad):
    """Your rows are one column too short: bos or eos needs room too, and the longest sentence has none."""
    width = max(map(len, targets))
    return (_filled([[bos, *tokens][:width] for tokens in targets], width, pad),
            _filled([[*tokens, eos][:width] for tokens in targets], width, pad))


@teacher_forcing_batch.misconception(see=f"{CHAPTER}#mistake-shift")
def filled_with_eos(targets, bos, eos, pad):
    """You fill the rows with eos; then nobody can tell the end of a sentence, which counts, from padding."""
    width = max(map(len, targets)) + 1
    return _filled([[bos, *tokens] for tokens in targets], width, eos), _filled(targets, width, eos)


# --- masked_cross_entropy --------------------------------------------------------------------------------------


def _losses(logits, target):
    """-log softmax(logits)[target] for every position, pads included."""
    return -torch.log_softmax(logits, dim=-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-pads-counted")
def pads_counted(logits, target, pad):
    """Your mean runs over the padding too, so the model is also marked for saying pad."""
    return _losses(logits, target).mean()


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-pads-counted")
def divided_by_all_positions(logits, target, pad):
    """Pads are out of your sum, but still in the number that you divide by."""
    return (_losses(logits, target) * (target != pad)).mean()


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-pads-counted")
def mean_of_sentence_means(logits, target, pad):
    """You average each sentence first; a word of a short sentence then counts more than one of a long sentence."""
    real = target != pad
    return ((_losses(logits, target) * real).sum(dim=1) / real.sum(dim=1)).mean()


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-pads-counted")
def added_up(logits, target, pad):
    """You add the losses up and do not divide; the loss then grows with the size of the batch."""
    return _losses(logits, target)[target != pad].sum()


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-pads-counted")
def divided_by_sentences(logits, target, pad):
    """You divide by the number of sentences, where the number of real tokens is asked for."""
    return _losses(logits, target)[target != pad].sum() / len(target)


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-pads-counted")
def logits_of_pads_cleared(logits, target, pad):
    """You set the logits of pads to zero; a zero logit is still a guess, and it costs log(vocab) in your mean."""
    return _losses(logits * (target != pad).unsqueeze(-1), target).mean()


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-pads-counted")
def zero_taken_for_pad(logits, target, pad):
    """You take 0 for the padding, whatever `pad` says."""
    return _losses(logits, target)[target != 0].mean()


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-softmax-twice")
def softmax_applied_twice(logits, target, pad):
    """You hand probabilities to a cross-entropy that takes logits, so the softmax is applied a second time."""
    real = target != pad
    return F.cross_entropy(torch.softmax(logits[real], dim=-1), target[real])


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-softmax-twice")
def log_of_a_probability_of_zero(logits, target, pad):
    """The formula is right, but a tiny probability is rounded to 0 before you take its logarithm."""
    chosen = torch.softmax(logits, dim=-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -chosen[target != pad].log().mean()


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-softmax-twice")
def exponential_of_a_large_logit(logits, target, pad):
    """The exponential of a large logit is infinite; `log_softmax` first takes the largest one away from all of them."""
    log_p = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    return -log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)[target != pad].mean()


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-loss-layout")
def reshaped_where_a_transpose_is_needed(logits, target, pad):
    """You reshape (batch, seq, vocab) to (batch, vocab, seq): the shape fits, the numbers land in other places."""
    batch, seq, vocab = logits.shape
    return F.cross_entropy(logits.reshape(batch, vocab, seq), target, ignore_index=pad)


@masked_cross_entropy.misconception(see=f"{CHAPTER}#mistake-loss-layout")
def softmax_over_positions(logits, target, pad):
    """Your softmax runs over the positions of a sentence; in each position the words compete, not the places."""
    chosen = torch.log_softmax(logits, dim=1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -chosen[target != pad].mean()


# --- Encoder ---------------------------------------------------------------------------------------------------


class _Parts(nn.Module):
    """What the wrong implementations below have in common: they register the right parameters."""

    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim, batch_first=True)

    def read(self, source, lengths):
        """All states, the same with zeros behind the ends, and the right final state."""
        states, _ = self.rnn(self.embedding(source))
        return states, cleared(states, lengths), states[torch.arange(len(source)), lengths - 1]


def cleared(states, lengths):
    real = torch.arange(states.size(1)) < lengths.unsqueeze(1)
    return states * real.unsqueeze(-1)


@encoder.misconception(see=f"{CHAPTER}#mistake-final-state")
class final_read_from_padding(_Parts):
    """Your final state is the one in the last column: in shorter sentences it has read padding as well."""

    def forward(self, source, lengths):
        states, kept, _ = self.read(source, lengths)
        return kept, states[:, -1]


@encoder.misconception(see=f"{CHAPTER}#mistake-final-state")
class final_already_cleared(_Parts):
    """You clear the states first and then read the last column, which is zero for every sentence with padding."""

    def forward(self, source, lengths):
        _, kept, _ = self.read(source, lengths)
        return kept, kept[:, -1]


@encoder.misconception(see=f"{CHAPTER}#mistake-final-state")
class longest_sentence_decides(_Parts):
    """You read every final state at the end of the longest sentence; each sentence has an end of its own."""

    def forward(self, source, lengths):
        states, kept, _ = self.read(source, lengths)
        return kept, states[:, int(lengths.max()) - 1]


@encoder.misconception(see=f"{CHAPTER}#mistake-final-state")
class one_position_too_far(_Parts):
    """You read the final state one position behind the last token: positions are counted from 0."""

    def forward(self, source, lengths):
        states, kept, _ = self.read(source, lengths)
        return kept, states[torch.arange(len(source)), lengths]


@encoder.misconception(see=f"{CHAPTER}#mistake-final-state")
class states_not_cleared(_Parts):
    """Your final state is right, but behind the end of a sentence your states are those of the padding."""

    def forward(self, source, lengths):
        states, _, final = self.read(source, lengths)
        return states, final


@encoder.misconception(see=f"{CHAPTER}#mistake-final-state")
class lengths_not_used(_Parts):
    """Your result does not depend on `lengths`: the GRU reads the padding too, and the last state has read it."""

    def forward(self, source, lengths):
        states, _, _ = self.read(source, lengths)
        return states, states[:, -1]


@encoder.misconception(see=f"{CHAPTER}#mistake-final-state")
class padding_fed_as_zeros(_Parts):
    """You clear what the GRU reads, not what it says: fed with zeros, it still goes on changing its state."""

    def forward(self, source, lengths):
        states, _ = self.rnn(cleared(self.embedding(source), lengths))
        return states, states[:, -1]


@encoder.misconception(see=f"{CHAPTER}#mistake-final-state")
class final_is_the_mean(_Parts):
    """You average the states of a sentence; the final state is a single one of them."""

    def forward(self, source, lengths):
        _, kept, _ = self.read(source, lengths)
        return kept, kept.sum(dim=1) / lengths.unsqueeze(1)


@encoder.misconception(see=f"{CHAPTER}#mistake-time-first")
class batch_read_as_time(_Parts):
    """Your GRU takes the first axis for time, so it reads down the batch, from one sentence into the next."""

    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__(vocab_size, embed_dim, hidden_dim)
        self.rnn = nn.GRU(embed_dim, hidden_dim)

    def forward(self, source, lengths):
        _, kept, final = self.read(source, lengths)
        return kept, final


@encoder.misconception(see=f"{CHAPTER}#mistake-padding-index")
class frozen_word(_Parts):
    """Your embedding has a `padding_idx`: the vector of that word gets no gradient, even where the word is real."""

    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__(vocab_size, embed_dim, hidden_dim)
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=0)

    def forward(self, source, lengths):
        _, kept, final = self.read(source, lengths)
        return kept, final


@encoder.misconception(see=f"{CHAPTER}#mistake-packing")
class width_shrunk(_Parts):
    """Unpacked, your states are only as wide as the longest sentence; the columns behind it are lost."""

    def forward(self, source, lengths):
        packed = pack_padded_sequence(self.embedding(source), lengths, batch_first=True, enforce_sorted=False)
        states, final = self.rnn(packed)
        return pad_packed_sequence(states, batch_first=True)[0], final.squeeze(0)


@encoder.misconception(see=f"{CHAPTER}#mistake-packing")
class layer_axis_kept(_Parts):
    """The GRU's second result has the layers as its first axis; there is one, and it is still in your final state."""

    def forward(self, source, lengths):
        _, kept, final = self.read(source, lengths)
        return kept, final.unsqueeze(0)


@encoder.misconception(see=f"{CHAPTER}#mistake-packing")
class left_in_order_of_length(_Parts):
    """You sort the sentences by length and leave them there; row b of the result is no longer sentence b."""

    def forward(self, source, lengths):
        lengths, order = lengths.sort(descending=True)
        _, kept, final = self.read(source[order], lengths)
        return kept, final
