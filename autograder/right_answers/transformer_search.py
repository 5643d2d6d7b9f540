"""Right answers to beam_search of chapter 08, each written in another way."""

import heapq
import itertools

import torch

from autograder.right_answers import right_answer


@right_answer("beam_search")
def sentence_by_sentence(model, state, bos, eos, beam_size, max_len, length_penalty):
    results = []
    for row in range(len(state)):
        beams = [([], 0.0, state[row:row + 1])]
        for _ in range(max_len):
            candidates = []
            for words, total, now in beams:
                if words and words[-1] == eos:
                    candidates.append((words, total, now))
                    continue
                logits, after = model.step(torch.tensor([words[-1] if words else bos]), now)
                for word, gain in enumerate(torch.log_softmax(logits[0], dim=-1).tolist()):
                    candidates.append(([*words, word], total + gain, after))
            beams = sorted(candidates, key=lambda beam: beam[1], reverse=True)[:beam_size]
        results.append(max(beams, key=lambda beam: beam[1] / len(beam[0]) ** length_penalty)[0])
    width = max(map(len, results))
    return torch.tensor([words + [eos] * (width - len(words)) for words in results])


@right_answer("beam_search")
def sentences_without_their_eos(model, state, bos, eos, beam_size, max_len, length_penalty):
    """A list of words for each row, which are brought to one length at the end."""
    tokens = sentence_by_sentence(model, state, bos, eos, beam_size, max_len, length_penalty)
    sentences = [[word for word in row if word != eos] for row in tokens.tolist()]
    width = max(map(len, sentences))
    return torch.tensor([words + [eos] * (width - len(words)) for words in sentences])


@right_answer("beam_search")
def all_beams_in_one_batch(model, state, bos, eos, beam_size, max_len, length_penalty):
    batch = state.size(0)
    state = state.repeat_interleave(beam_size, 0)
    tokens = torch.full((batch * beam_size,), bos)
    sums = torch.full((batch, beam_size), float("-inf"))
    sums[:, 0] = 0
    history = torch.empty(batch, beam_size, 0, dtype=torch.int64)
    lengths = torch.zeros(batch, beam_size, dtype=torch.int64)
    done = torch.zeros(batch, beam_size, dtype=torch.bool)
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        log_p = logits.log_softmax(-1).view(batch, beam_size, -1)
        log_p = log_p.masked_fill(done.unsqueeze(-1), float("-inf"))
        log_p[..., eos] = log_p[..., eos].masked_fill(done, 0.0)
        vocab = log_p.size(-1)
        sums, index = (sums.unsqueeze(-1) + log_p).view(batch, -1).topk(beam_size, dim=-1)
        parent, word = torch.div(index, vocab, rounding_mode="floor"), index % vocab
        history = torch.cat([history.gather(1, parent.unsqueeze(-1).expand(-1, -1, history.size(-1))),
                             word.unsqueeze(-1)], dim=-1)
        done, lengths = done.gather(1, parent), lengths.gather(1, parent)
        lengths = lengths + (~done).long()
        done = done | (word == eos)
        state = state[(torch.arange(batch).unsqueeze(1) * beam_size + parent).view(-1)]
        tokens = word.view(-1)
        if done.all():
            break
    best = (sums / lengths.clamp(min=1) ** length_penalty).argmax(dim=1)
    return history[torch.arange(batch), best]


@right_answer("beam_search")
def every_row_with_its_own_beams(model, state, bos, eos, beam_size, max_len, length_penalty):
    """The beams of one row are a batch; finished ones wait in a list and take their place away."""
    rows = []
    for start in state.split(1):
        alive, totals, now, finished = [()], torch.zeros(1), start, []
        for _ in range(max_len):
            last = torch.tensor([words[-1] if words else bos for words in alive])
            logits, after = model.step(last, now)
            scores = totals.unsqueeze(1) + torch.log_softmax(logits, dim=1)
            pool = [(scores[i, word].item(), i, word) for i in range(len(alive)) for word in range(scores.size(1))]
            pool += [(total, None, words) for total, words in finished]
            pool = heapq.nlargest(beam_size, pool, key=lambda entry: entry[0])
            finished = [(total, words) for total, i, words in pool if i is None]
            finished += [(total, (*alive[i], word)) for total, i, word in pool if i is not None and word == eos]
            going = [(total, i, word) for total, i, word in pool if i is not None and word != eos]
            if not going:
                alive = []
                break
            alive = [(*alive[i], word) for _, i, word in going]
            totals, now = torch.tensor([total for total, _, _ in going]), after[[i for _, i, _ in going]]
        ends = finished + (list(zip(totals.tolist(), alive, strict=True)) if alive else [])
        rows.append(max(ends, key=lambda end: end[0] / len(end[1]) ** length_penalty)[1])
    said = torch.full((len(rows), max_len), eos)
    for row, words in zip(said, rows, strict=True):
        row[:len(words)] = torch.tensor(words)
    return said


@right_answer("beam_search")
def beams_as_dictionaries(model, state, bos, eos, beam_size, max_len, length_penalty):
    def grown(beam):
        if beam["done"]:
            return [beam]
        logits, after = model.step(torch.tensor([beam["last"]]), beam["state"])
        log_p = (logits - logits.logsumexp(dim=-1, keepdim=True))[0]
        return [{"words": beam["words"] + [word], "last": word, "state": after, "done": word == eos,
                 "total": beam["total"] + float(log_p[word])} for word in range(len(log_p))]

    def best(row):
        beams = [{"words": [], "last": bos, "state": state[row].unsqueeze(0), "done": False, "total": 0.0}]
        while not all(beam["done"] for beam in beams) and max(len(beam["words"]) for beam in beams) < max_len:
            candidates = list(itertools.chain.from_iterable(map(grown, beams)))
            candidates.sort(key=lambda beam: -beam["total"])
            del candidates[beam_size:]
            beams = candidates
        return max(beams, key=lambda beam: beam["total"] / pow(len(beam["words"]), length_penalty))["words"]

    rows = [torch.tensor(best(row)) for row in range(len(state))]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=eos)


@right_answer("beam_search")
def fewer_beams_at_the_start(model, state, bos, eos, beam_size, max_len, length_penalty):
    """The first step starts from a single beam, so nothing has to be set to minus infinity."""
    batch = len(state)
    logits, state = model.step(torch.full((batch,), bos), state)
    vocab = logits.shape[-1]
    width = min(beam_size, vocab)
    totals, words = torch.log_softmax(logits, dim=-1).topk(width, dim=-1)
    said, states = words.unsqueeze(-1), state.unsqueeze(1).expand(-1, width, -1)
    for _ in range(max_len - 1):
        ended = said[..., -1] == eos
        logits, after = model.step(said[..., -1].reshape(-1), states.reshape(-1, states.shape[-1]))
        gains = torch.log_softmax(logits, dim=-1).reshape(batch, width, vocab)
        frozen = torch.where(torch.arange(vocab) == eos, 0.0, -torch.inf)
        scores = totals.unsqueeze(-1) + torch.where(ended.unsqueeze(-1), frozen, gains)
        after = after.reshape(batch, width, -1)
        new_width = min(beam_size, width * vocab)
        totals, place = scores.reshape(batch, -1).topk(new_width, dim=-1)
        parent = (place // vocab).unsqueeze(-1)
        said = torch.cat([said.take_along_dim(parent, 1), (place % vocab).unsqueeze(-1)], dim=-1)
        states, width = after.take_along_dim(parent, 1), new_width
    length = ((said == eos).cumsum(-1) == 0).sum(-1) + (said == eos).any(-1)
    best = (totals / length.to(totals.dtype).pow(length_penalty)).argmax(-1)
    return said[torch.arange(batch), best]


@right_answer("beam_search")
def by_recursion(model, state, bos, eos, beam_size, max_len, length_penalty):
    def go_on(beams, left):
        if left == 0 or all(words[-1:] == (eos,) for _, words, _ in beams):
            return beams
        candidates = []
        for total, words, now in beams:
            if words[-1:] == (eos,):
                candidates.append((total, words, now))
            else:
                logits, after = model.step(torch.tensor([words[-1]]) if words else torch.tensor([bos]), now)
                gains = torch.nn.functional.log_softmax(logits, dim=1).squeeze(0)
                candidates.extend((total + gain.item(), (*words, word), after) for word, gain in enumerate(gains))
        order = torch.tensor([total for total, _, _ in candidates]).argsort(descending=True)[:beam_size].tolist()
        return go_on([candidates[i] for i in order], left - 1)

    def value(beam):
        return beam[0] / len(beam[1]) ** length_penalty

    rows = [max(go_on([(0.0, (), state[i:i + 1])], max_len), key=value)[1] for i in range(state.shape[0])]
    widest = max(len(words) for words in rows)
    return torch.tensor([words + (eos,) * (widest - len(words)) for words in rows], dtype=torch.int64)
