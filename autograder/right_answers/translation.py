"""Right answers to the project of chapter 08: a trained model from `translator.pt`, asked in different ways."""

import torch
from torch.nn.utils.rnn import pad_sequence

from autograder.corpus import Vocabulary
from autograder.reference.kv_cache import CachedDecoder
from autograder.reference.transformer import Transformer
from autograder.right_answers import right_answer


def loaded():
    """The model in eval mode and both vocabularies."""
    saved = torch.load("translator.pt")
    english, french = Vocabulary([saved["english"]]), Vocabulary([saved["french"]])
    model = Transformer(len(english), len(french), 64, 4, 2, 128, 64, 0.0)
    model.load_state_dict(saved["weights"])
    return model.eval(), english, french


def greedy(model, source, most=40):
    """Tokens (batch, said) without the start; behind a row's end stands anything."""
    mask = Transformer.make_pad_mask(source)
    enc_out, said = model.encode(source, mask), torch.full((len(source), 1), Vocabulary.bos)
    while said.size(1) <= most and not (said == Vocabulary.eos).any(1).all():
        causal = Transformer.make_causal_mask(said.size(1))
        logits = model.proj(model.decode(said, enc_out, mask, causal)[:, -1])
        said = torch.cat([said, logits.argmax(-1, keepdim=True)], dim=1)
    return said[:, 1:]


@right_answer("translate")
def all_in_one_batch(sentences):
    model, english, french = loaded()
    source = pad_sequence([torch.tensor(english.encode(words)) for words in sentences], batch_first=True)
    with torch.no_grad():
        return [french.decode(row) for row in greedy(model, source)]


@right_answer("translate")
def sorted_and_put_back(sentences):
    model, english, french = loaded()
    order = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
    results = [None] * len(sentences)
    with torch.no_grad():
        for start in range(0, len(order), 25):
            group = order[start:start + 25]
            rows = [torch.tensor(english.encode(sentences[i])) for i in group]
            for i, row in zip(group, greedy(model, pad_sequence(rows, batch_first=True)).tolist(), strict=True):
                results[i] = french.decode(row)
    return results


@right_answer("translate")
def equal_lengths_need_no_padding(sentences):
    model, english, french = loaded()
    by_length = {}
    for i, words in enumerate(sentences):
        by_length.setdefault(len(words), []).append(i)
    said = {}
    with torch.inference_mode():
        for places in by_length.values():
            tokens = greedy(model, torch.tensor([english.encode(sentences[i]) for i in places]))
            said |= {i: tuple(french.decode(row)) for i, row in zip(places, tokens, strict=True)}
    return tuple(said[i] for i in range(len(sentences)))


@right_answer("translate")
def everything_again_at_each_step(sentences):
    model, english, french = loaded()
    rows = [torch.tensor(english.encode(words)) for words in sentences]
    source = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.int64)
    for filled, row in zip(source, rows, strict=True):
        filled[:len(row)] = row
    with torch.no_grad():
        mask = Transformer.make_pad_mask(source)
        target = torch.ones(len(rows), 1, dtype=torch.int64)
        while target.size(1) < 32 and not (target == Vocabulary.eos).any(dim=1).all():
            logits = model(source, target, mask, Transformer.make_causal_mask(target.size(1)))[:, -1]
            target = torch.cat([target, logits.max(-1, keepdim=True).indices], dim=1)
    return [french.decode(row[1:]) for row in target.tolist()]


@right_answer("translate")
def who_is_done_leaves_the_batch(sentences):
    model, english, french = loaded()
    source = pad_sequence([torch.tensor(english.encode(words)) for words in sentences], batch_first=True)
    results, left = [[] for _ in sentences], torch.arange(len(sentences))
    with torch.no_grad():
        decoder = CachedDecoder(model)
        state = decoder.start(source, Transformer.make_pad_mask(source))
        tokens = torch.ones(len(left), dtype=torch.int64)
        while len(left) and len(results[left[0]]) < 40:
            logits, state = decoder.step(tokens, state)
            tokens = logits.argmax(-1)
            going = tokens != 2
            left, tokens, state = left[going], tokens[going], state[going]
            for place, token in zip(left.tolist(), tokens.tolist(), strict=True):
                results[place].append(french.words[token])
    return results


@right_answer("translate")
def in_double_precision(sentences):
    model, english, french = loaded()
    model = model.double().requires_grad_(False)  # so nothing is kept for a gradient
    numbers = [english.encode(words) for words in sentences]
    longest = max(map(len, numbers))
    source = torch.tensor([row + [0] * (longest - len(row)) for row in numbers])
    return [" ".join(french.decode(row)).split() for row in greedy(model, source)]
