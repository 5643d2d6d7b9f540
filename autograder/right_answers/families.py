"""Right answers to the exercises of chapter 10 on what the three families learn from, each written in another way."""

import itertools

import torch
import torch.nn.functional as F

from autograder.right_answers import right_answer

# --- mlm_batch -------------------------------------------------------------------------------------------------


@right_answer("mlm_batch")
def one_draw_cut_into_four(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    """A single draw is enough if the fates are parts of the probability."""
    lots = torch.rand(tokens.shape, generator=generator)
    for i in special_ids:
        lots = lots.masked_fill(tokens == i, 2.0)
    inputs = tokens.clone()
    inputs[lots < 0.8 * probability] = mask_id
    random = (lots >= 0.8 * probability) & (lots < 0.9 * probability)
    inputs[random] = torch.randint(0, vocab_size, (int(random.sum()),), generator=generator)
    return inputs, tokens.masked_fill(lots >= probability, -100)


@right_answer("mlm_batch")
def bernoulli_after_bernoulli(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    inputs, labels = tokens.clone(), tokens.clone()
    chances = torch.full(tokens.shape, float(probability))
    chances[torch.isin(tokens, torch.tensor(special_ids, dtype=torch.long))] = 0.0
    chosen = torch.bernoulli(chances, generator=generator).bool()
    labels[~chosen] = -100
    masked = torch.bernoulli(torch.full(tokens.shape, 0.8), generator=generator).bool() & chosen
    inputs[masked] = mask_id
    half = torch.bernoulli(torch.full(tokens.shape, 0.5), generator=generator).bool()
    random = half & chosen & ~masked
    inputs[random] = torch.randint(vocab_size, tokens.shape, generator=generator)[random]
    return inputs, labels


@right_answer("mlm_batch")
def only_the_chosen_are_looked_at(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    open_to_choice = torch.stack([tokens != i for i in special_ids] or [tokens == tokens]).all(0)
    rows, columns = ((torch.rand(tokens.size(), generator=generator) < probability) & open_to_choice).nonzero().T
    inputs, labels = tokens.clone(), torch.full_like(tokens, -100)
    labels[rows, columns] = tokens[rows, columns]
    fate = torch.rand(len(rows), generator=generator)
    replaced = torch.where(fate < 0.8, mask_id, torch.randint(vocab_size, (len(rows),), generator=generator))
    inputs[rows, columns] = torch.where(fate < 0.9, replaced, tokens[rows, columns])
    return inputs, labels


@right_answer("mlm_batch")
def fates_from_a_die(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    die = torch.randint(10, tokens.shape, generator=generator)  # 0 to 7: mask, 8: random, 9: stays
    chosen = torch.rand(tokens.shape, generator=generator).lt(probability)
    for i in special_ids:
        chosen = chosen & tokens.ne(i)
    ids = torch.randint(vocab_size, tokens.shape, generator=generator)
    inputs = torch.where(chosen & (die < 8), torch.full_like(tokens, mask_id), tokens)
    inputs = torch.where(chosen & (die == 8), ids, inputs)
    return inputs, torch.where(chosen, tokens, torch.full_like(tokens, -100))


@right_answer("mlm_batch")
def random_ids_from_uniform_numbers(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    shape = tokens.shape
    lots, fates, ids = torch.rand(3, *shape, generator=generator)
    special = (tokens.unsqueeze(-1) == torch.tensor(special_ids, dtype=tokens.dtype)).any(dim=-1)
    chosen = ~special * (lots < probability)
    inputs = tokens * ~chosen
    inputs = inputs + chosen * (fates < 0.8) * mask_id
    inputs = inputs + chosen * ((fates >= 0.8) & (fates < 0.9)) * (ids * vocab_size).long()
    inputs = inputs + chosen * (fates >= 0.9) * tokens
    return inputs, tokens * chosen - 100 * (~chosen).long()


@right_answer("mlm_batch")
def fates_by_multinomial(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    weights = torch.tensor([0.8, 0.1, 0.1])
    fate = torch.multinomial(weights, tokens.numel(), replacement=True, generator=generator).view(tokens.shape)
    choices = torch.stack([torch.full_like(tokens, mask_id),
                           torch.randint(vocab_size, tokens.shape, generator=generator), tokens])
    replaced = choices.gather(0, fate.unsqueeze(0)).squeeze(0)
    chosen = torch.rand(tokens.shape, generator=generator) < probability
    chosen &= ~torch.isin(tokens, torch.tensor(list(special_ids), dtype=tokens.dtype))
    return torch.where(chosen, replaced, tokens), torch.where(chosen, tokens, -100)


@right_answer("mlm_batch")
def row_by_row(tokens, mask_id, special_ids, vocab_size, generator, probability=0.15):
    rows = []
    for row in tokens:
        lots, fates = torch.rand(row.shape, generator=generator), torch.rand(row.shape, generator=generator)
        chosen = (lots < probability) & ~torch.isin(row, torch.tensor(special_ids, dtype=row.dtype))
        label, hidden = row.clone(), row.clone()
        label[~chosen] = -100
        hidden[chosen & (fates > 0.2)] = mask_id
        random = chosen & (fates <= 0.1)
        hidden[random] = torch.randint(vocab_size, (int(random.sum()),), generator=generator)
        rows.append((hidden, label))
    return tuple(map(torch.stack, zip(*rows, strict=True)))


# --- next_token_loss -------------------------------------------------------------------------------------------


@right_answer("next_token_loss")
def classes_on_the_second_axis(logits, tokens):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:])


@right_answer("next_token_loss")
def gathered_log_probabilities(logits, tokens):
    logs = torch.log_softmax(logits[:, :-1], dim=-1)
    return -logs.gather(-1, tokens[:, 1:, None]).mean()


@right_answer("next_token_loss")
def last_label_ignored(logits, tokens):
    labels = torch.cat([tokens[:, 1:], torch.full_like(tokens[:, :1], -100)], dim=1)
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), labels.reshape(-1))


@right_answer("next_token_loss")
def normaliser_minus_the_right_logit(logits, tokens):
    z = logits[:, :-1].logsumexp(dim=-1)
    right = torch.take_along_dim(logits[:, :-1], tokens[:, 1:].unsqueeze(-1), dim=-1).squeeze(-1)
    return (z - right).mean()


@right_answer("next_token_loss")
def sum_over_the_count(logits, tokens):
    batch, seq = tokens.shape
    total = F.cross_entropy(logits[:, : seq - 1].reshape(batch * (seq - 1), -1),
                            tokens[:, 1:seq].reshape(-1), reduction="sum")
    return total / (batch * (seq - 1))


@right_answer("next_token_loss")
def mean_of_the_means_of_sequences(logits, tokens):
    losses = [F.cross_entropy(scores[:-1], row[1:]) for scores, row in zip(logits, tokens, strict=True)]
    return torch.stack(losses).mean()


@right_answer("next_token_loss")
def negative_log_likelihood(logits, tokens):
    logs = F.log_softmax(logits, dim=2).narrow(1, 0, logits.size(1) - 1)
    return F.nll_loss(logs.flatten(end_dim=1), tokens[:, 1:].flatten())


# --- span_corruption -------------------------------------------------------------------------------------------


@right_answer("span_corruption")
def from_the_back(tokens, spans, sentinels):
    """Cutting from the last span on leaves the positions of the others alone."""
    inputs, targets = list(tokens), []
    for i in reversed(range(len(spans))):
        start, end = spans[i]
        targets = [sentinels[i], *inputs[start:end], *targets]
        inputs[start:end] = [sentinels[i]]
    return inputs, [*targets, sentinels[len(spans)]]


@right_answer("span_corruption")
def token_by_token(tokens, spans, sentinels):
    starts = {start: i for i, (start, _) in enumerate(spans)}
    inside = {position for start, end in spans for position in range(start, end)}
    inputs, targets = [], []
    for position, token in enumerate(tokens):
        if position in starts:
            inputs.append(sentinels[starts[position]])
            targets.append(sentinels[starts[position]])
        (targets if position in inside else inputs).append(token)
    targets.append(sentinels[len(spans)])
    return inputs, targets


@right_answer("span_corruption")
def pieces_between_the_spans(tokens, spans, sentinels):
    edges = [0] + [end for _, end in spans]
    starts = [start for start, _ in spans] + [len(tokens)]
    kept = [tokens[a:b] for a, b in zip(edges, starts, strict=True)]
    hidden = [tokens[a:b] for a, b in spans]
    inputs = kept[0] + [t for s, piece in zip(sentinels, kept[1:], strict=False) for t in [s, *piece]]
    targets = [t for s, piece in zip(sentinels, hidden, strict=False) for t in [s, *piece]]
    return inputs, [*targets, sentinels[len(hidden)]]


@right_answer("span_corruption")
def recursive(tokens, spans, sentinels):
    def rest(position, left, names):
        if not left:
            return tokens[position:], names[:1]
        (start, end), *others = left
        more_inputs, more_targets = rest(end, others, names[1:])
        return tokens[position:start] + names[:1] + more_inputs, names[:1] + tokens[start:end] + more_targets

    return rest(0, list(spans), list(sentinels))


@right_answer("span_corruption")
def with_an_iterator_of_sentinels(tokens, spans, sentinels):
    names = iter(sentinels)
    inputs, targets, position = [], [], 0
    for start, end in spans:
        name = next(names)
        inputs.extend(tokens[position:start])
        inputs.append(name)
        targets.append(name)
        targets.extend(tokens[start:end])
        position = end
    inputs.extend(tokens[position:])
    targets.append(next(names))
    return inputs, targets


@right_answer("span_corruption")
def chained(tokens, spans, sentinels):
    ends = [0, *(end for _, end in spans)]
    inputs = itertools.chain.from_iterable(
        [*tokens[before:start], name] for before, (start, _), name in zip(ends, spans, sentinels, strict=False))
    targets = itertools.chain.from_iterable(
        [name, *tokens[a:b]] for (a, b), name in zip(spans, sentinels, strict=False))
    return [*inputs, *tokens[ends[-1]:]], [*targets, sentinels[len(spans)]]


@right_answer("span_corruption")
def with_a_while_loop(tokens, spans, sentinels):
    inputs, targets, position, used = [], [], 0, 0
    while position < len(tokens):
        if used < len(spans) and position == spans[used][0]:
            end = spans[used][1]
            inputs.append(sentinels[used])
            targets += [sentinels[used], *tokens[position:end]]
            position, used = end, used + 1
        else:
            inputs.append(tokens[position])
            position += 1
    return inputs, [*targets, sentinels[used]]
