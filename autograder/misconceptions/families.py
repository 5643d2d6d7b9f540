"""Chapter 10: the mistakes that are named in what an encoder and a decoder learn from, each a wrong implementation."""

import torch
import torch.nn.functional as F

from autograder.exercises.families import CHAPTER, mlm_batch, next_token_loss

# --- mlm_batch -------------------------------------------------------------------------------------------------


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-special-tokens-hidden")
def special_tokens_chosen(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You choose special tokens too; nobody has to guess [CLS], [SEP] or padding."""
    chosen = torch.rand(tokens.shape, generator=generator) < probability
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-labels-of-the-chosen")
def labels_everywhere(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """Your labels hold every token; only a chosen one counts in the loss, and the others are -100."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), tokens.clone()


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-labels-of-the-chosen")
def labels_of_the_unchanged_missing(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """A chosen token that stays has no label with you; it is to be guessed like the others."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    inputs = torch.where(chosen, hidden, tokens)
    return inputs, torch.where(inputs != tokens, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-labels-of-the-chosen")
def labels_at_the_masks_only(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You give a label to the masks alone; the random and the unchanged tokens were chosen as well."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen & (fate < 0.8), tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-labels-of-the-chosen")
def labels_swapped(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """Your labels are the wrong way round: -100 at the chosen tokens, the token everywhere else."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, -100, tokens)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-labels-of-the-chosen")
def labels_after_hiding(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You take the labels from the inputs when these are hidden already, so the answer is mostly the mask."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    inputs = torch.where(chosen, hidden, tokens)
    return inputs, torch.where(chosen, inputs, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-three-fates")
def always_masked(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """Every chosen token becomes the mask; a tenth should become a random id and a tenth should stay."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    return torch.where(chosen, mask_id, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-three-fates")
def nothing_stays(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """With you, what does not become the mask becomes a random id; half of these should stay."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, ids)
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-three-fates")
def tenth_of_the_rest(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You make a tenth of the remaining fifth random, which is 2 %; of all chosen, a tenth is asked for."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    masked = torch.rand(tokens.shape, generator=generator) < 0.8
    random = torch.rand(tokens.shape, generator=generator) < 0.1
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(masked, mask_id, torch.where(random, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-one-draw-for-two-choices")
def one_draw_for_choice_and_fate(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """One number decides who is chosen and what becomes of it: whatever is below 0.15 is below 0.8 too."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    lots = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    chosen = (lots < probability) & ~special
    hidden = torch.where(lots < 0.8, mask_id, torch.where(lots < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-chosen-for-itself")
def fixed_number_in_each_row(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You choose the same number of tokens in each sequence; each token is to be chosen for itself."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    lots = torch.rand(tokens.shape, generator=generator).masked_fill(special, 2.0)
    wanted = (probability * (~special).sum(dim=1, keepdim=True)).round()
    chosen = (lots.argsort(dim=1).argsort(dim=1) < wanted) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-chosen-for-itself")
def same_positions_in_each_row(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You draw for one sequence and hide the same positions in all of them; draw a number for each token."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape[1], generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-chosen-for-itself")
def one_random_id_for_all(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You draw a single random id and write it everywhere; each token needs one of its own."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    only = torch.randint(vocab_size, (1,), generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, only, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-generator-of-the-batch")
def generator_ignored(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You draw from torch's global generator, so nobody can repeat your batch."""
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape) < probability) & ~special
    fate = torch.rand(tokens.shape)
    ids = torch.randint(vocab_size, tokens.shape)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


@mlm_batch.misconception(see=f"{CHAPTER}#mistake-generator-of-the-batch")
def generator_seeded_again(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """You give the generator a seed of your own, so every epoch hides the same tokens."""
    generator.manual_seed(0)
    special = torch.isin(tokens, torch.tensor(special_ids, dtype=tokens.dtype))
    chosen = (torch.rand(tokens.shape, generator=generator) < probability) & ~special
    fate = torch.rand(tokens.shape, generator=generator)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    hidden = torch.where(fate < 0.8, mask_id, torch.where(fate < 0.9, ids, tokens))
    return torch.where(chosen, hidden, tokens), torch.where(chosen, tokens, -100)


# --- next_token_loss -------------------------------------------------------------------------------------------


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-not-shifted")
def not_shifted(logits, tokens):
    """You compare logits with the token that they have just read; they are about the one after it."""
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten())


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-not-shifted")
def shifted_the_wrong_way(logits, tokens):
    """You compare the logits at t + 1 with the token at t: the shift is the wrong way round."""
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-not-shifted")
def last_token_only(logits, tokens):
    """You use the last prediction alone; every position but the last one predicts its next token."""
    return F.cross_entropy(logits[:, -2], tokens[:, -1])


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-not-shifted")
def next_token_around_the_corner(logits, tokens):
    """You roll the tokens, so the last position has to predict the first token of its own sequence."""
    return F.cross_entropy(logits.flatten(0, 1), tokens.roll(-1, dims=1).flatten())


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-not-shifted")
def shifted_twice(logits, tokens):
    """You cut one position off both, at the same end: they still stand side by side, token against itself."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, :-1].flatten())


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-mean-of-the-loss")
def summed(logits, tokens):
    """You add the losses up; the mean over all predictions is asked for."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-mean-of-the-loss")
def divided_by_all_positions(logits, tokens):
    """You divide by batch * seq; there are only batch * (seq - 1) predictions."""
    total = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    return total / tokens.numel()


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-mean-of-the-loss")
def mean_of_sequences_added_up(logits, tokens):
    """You divide by the number of sequences only, so a longer sequence has a larger loss."""
    total = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="sum")
    return total / tokens.shape[0]


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-logarithm-of-softmax")
def logarithm_of_a_softmax(logits, tokens):
    """The formula is right, but a probability that is 0 in float32 has the logarithm minus infinity."""
    probabilities = torch.softmax(logits[:, :-1], dim=-1)
    return -probabilities.gather(-1, tokens[:, 1:].unsqueeze(-1)).log().mean()


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-logarithm-of-softmax")
def softmax_applied_first(logits, tokens):
    """You give probabilities to a function that wants logits, so softmax is applied twice."""
    probabilities = torch.softmax(logits[:, :-1], dim=-1)
    return F.cross_entropy(probabilities.flatten(0, 1), tokens[:, 1:].flatten())


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-logarithm-of-softmax")
def minus_sign_forgotten(logits, tokens):
    """Your loss is negative: the logarithm of a probability is, and the formula has a minus for that."""
    return -F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


@next_token_loss.misconception(see=f"{CHAPTER}#mistake-logarithm-of-softmax")
def softmax_over_positions(logits, tokens):
    """Your probabilities sum to 1 over the positions; at each position they have to over the vocabulary."""
    logs = torch.log_softmax(logits[:, :-1], dim=1)
    return -logs.gather(-1, tokens[:, 1:].unsqueeze(-1)).mean()
