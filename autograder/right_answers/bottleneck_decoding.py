"""Right answers to the exercises of chapter 01, each written in another way: greedy decoding and BLEU."""

import math
from collections import Counter, defaultdict

import torch

from autograder.right_answers import right_answer

# --- greedy_decode ---------------------------------------------------------------------------------------------


@right_answer("greedy_decode")
def for_and_break(model, state, bos, eos, max_len):
    batch = state.size(0)
    tokens = torch.full((batch,), bos, dtype=torch.long)
    done = torch.zeros(batch, dtype=torch.bool)
    columns = []
    with torch.no_grad():
        for _ in range(max_len):
            logits, state = model.step(tokens, state)
            tokens = torch.where(done, eos, logits.argmax(dim=1))
            columns.append(tokens.unsqueeze(1))
            done = done | tokens.eq(eos)
            if done.all():
                break
    return torch.cat(columns, dim=1)


@right_answer("greedy_decode")
def row_by_row(model, state, bos, eos, max_len):
    rows = []
    for b in range(len(state)):
        own, token, words = state[b:b + 1], bos, []
        while token != eos and len(words) < max_len:
            logits, own = model.step(torch.tensor([token]), own)
            token = int(logits[0].argmax())
            words.append(token)
        rows.append(words)
    width = max(len(words) for words in rows)
    return torch.tensor([words + [eos] * (width - len(words)) for words in rows])


@right_answer("greedy_decode")
def all_steps_then_cut(model, state, bos, eos, max_len):
    tokens = torch.LongTensor([bos] * len(state))
    said = torch.empty(len(state), max_len, dtype=torch.int64)
    for t in range(max_len):
        logits, state = model.step(tokens, state)
        tokens = logits.max(dim=-1).indices
        said[:, t] = tokens
    ended = (said == eos).cumsum(dim=1) > 0
    said[ended] = eos  # from its first eos on, a row holds nothing else
    open_rows = ~ended.all(dim=0)
    width = min(int(open_rows.sum()) + 1, max_len)
    return said[:, :width]


@right_answer("greedy_decode")
def only_open_rows_are_fed(model, state, bos, eos, max_len):
    model.eval()
    result = torch.full((len(state), max_len), eos)
    alive = torch.arange(len(state))
    tokens = torch.full((len(state),), bos)
    steps = 0
    with torch.inference_mode():
        while steps < max_len and len(alive):
            logits, state = model.step(tokens, state)
            tokens = logits.argmax(-1)
            result[alive, steps] = tokens
            going_on = tokens != eos
            alive, tokens, state = alive[going_on], tokens[going_on], state[going_on]
            steps += 1
    return result[:, :steps]


@right_answer("greedy_decode")
def first_step_before_the_loop(model, state, bos, eos, max_len):
    logits, state = model.step(tokens=torch.full((state.shape[0],), fill_value=bos, dtype=torch.long), state=state)
    said = []
    unfinished = torch.ones(state.shape[0], dtype=torch.long)
    for _ in range(max_len):
        token = logits.argmax(dim=-1) * unfinished + eos * (1 - unfinished)
        said.append(token)
        unfinished = unfinished * (token != eos).long()
        if unfinished.max() == 0:
            break
        logits, state = model.step(token, state)
    return torch.stack(said, dim=1)


@right_answer("greedy_decode")
def result_grows_behind_bos(model, state, bos, eos, max_len):
    result = torch.full((len(state), 1), bos)
    while result.size(1) <= max_len:
        logits, state = model.step(result[:, -1], state)
        probabilities = torch.softmax(logits, dim=-1)
        best = probabilities.topk(1, dim=-1).indices
        ended = (result[:, 1:] == eos).any(dim=1, keepdim=True)
        result = torch.cat([result, best.masked_fill(ended, eos)], dim=1)
        if (result[:, 1:] == eos).any(dim=1).all():
            break
    return result[:, 1:]


@right_answer("greedy_decode")
def plain_lists(model, state, bos, eos, max_len):
    sentences = [[] for _ in range(len(state))]
    tokens = [bos] * len(state)
    for _ in range(max_len):
        logits, state = model.step(torch.tensor(tokens, dtype=torch.int64), state)
        tokens = [eos if eos in words else scores.index(max(scores))
                  for words, scores in zip(sentences, logits.tolist(), strict=True)]
        for words, token in zip(sentences, tokens, strict=True):
            words.append(token)
        if all(eos in words for words in sentences):
            break
    return torch.tensor(sentences)


# --- corpus_bleu -----------------------------------------------------------------------------------------------


@right_answer("corpus_bleu")
def counters_and_minimum(hypotheses, references, max_n=4):
    matches, totals = [0] * max_n, [0] * max_n
    hyp_length = ref_length = 0
    for hyp, ref in zip(hypotheses, references, strict=True):
        hyp_length += len(hyp)
        ref_length += len(ref)
        for n in range(1, max_n + 1):
            hyp_counts = Counter(tuple(hyp[i:i + n]) for i in range(len(hyp) - n + 1))
            ref_counts = Counter(tuple(ref[i:i + n]) for i in range(len(ref) - n + 1))
            matches[n - 1] += sum(min(count, ref_counts[gram]) for gram, count in hyp_counts.items())
            totals[n - 1] += max(len(hyp) - n + 1, 0)
    if min(matches) == 0:
        return 0.0
    log_mean = sum(math.log(m / t) for m, t in zip(matches, totals, strict=True)) / max_n
    brevity = 1.0 if hyp_length >= ref_length else math.exp(1 - ref_length / hyp_length)
    return 100 * brevity * math.exp(log_mean)


def clipped_matches(hypothesis, reference, n):
    """Every n-gram of the hypothesis takes an equal one out of the reference."""
    left = [tuple(reference[i:i + n]) for i in range(len(reference) - n + 1)]
    matches = 0
    for i in range(len(hypothesis) - n + 1):
        gram = tuple(hypothesis[i:i + n])
        if gram in left:
            left.remove(gram)
            matches += 1
    return matches


@right_answer("corpus_bleu")
def crossed_out_of_a_list(hypotheses, references, max_n=4):
    product = 1.0
    for n in range(1, max_n + 1):
        found = sum(clipped_matches(h, r, n) for h, r in zip(hypotheses, references, strict=True))
        possible = sum(max(0, len(h) - n + 1) for h in hypotheses)
        product *= found / possible if possible else 0.0
    if product == 0.0:
        return 0.0
    c, r = sum(len(h) for h in hypotheses), sum(len(r) for r in references)
    return product ** (1 / max_n) * min(1.0, math.exp(1 - r / c)) * 100


@right_answer("corpus_bleu")
def with_torch(hypotheses, references, max_n=4):
    precisions = torch.zeros(max_n, dtype=torch.float64)
    for n in range(max_n):
        match, total = 0, 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            a = Counter(zip(*(hypothesis[k:] for k in range(n + 1)), strict=False))
            b = Counter(zip(*(reference[k:] for k in range(n + 1)), strict=False))
            match += sum((a & b).values())
            total += sum(a.values())
        precisions[n] = match / max(total, 1)
    c = torch.tensor(sum(map(len, hypotheses)), dtype=torch.float64)
    r = torch.tensor(sum(map(len, references)), dtype=torch.float64)
    brevity = torch.exp(torch.clamp(1 - r / c, max=0))
    return (100 * brevity * torch.exp(precisions.log().mean())).nan_to_num(0.0).item()


@right_answer("corpus_bleu")
def with_dictionaries(hypotheses, references, max_n=4):
    matches, totals = defaultdict(int), defaultdict(int)
    for k in range(len(hypotheses)):
        for n in range(1, max_n + 1):
            allowed = {}
            for i in range(len(references[k]) - n + 1):
                gram = " ".join(references[k][i:i + n])
                allowed[gram] = allowed.get(gram, 0) + 1
            for i in range(len(hypotheses[k]) - n + 1):
                gram = " ".join(hypotheses[k][i:i + n])
                totals[n] += 1
                if allowed.get(gram, 0) > 0:
                    allowed[gram] -= 1
                    matches[n] += 1
    if any(matches[n] == 0 for n in range(1, max_n + 1)):
        return 0.0
    c = sum(len(words) for words in hypotheses)
    r = sum(len(words) for words in references)
    score = 1.0
    for n in range(1, max_n + 1):
        score *= (matches[n] / totals[n]) ** (1.0 / max_n)
    return 100.0 * score * (math.exp(1 - r / c) if c < r else 1.0)


@right_answer("corpus_bleu")
def caught_logarithm(hypotheses, references, max_n=4):
    def ngrams(tokens, n):
        return Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))

    try:
        logs = []
        for n in range(1, max_n + 1):
            pairs = [(ngrams(h, n), ngrams(r, n)) for h, r in zip(hypotheses, references, strict=True)]
            logs.append(math.log(sum(sum((h & r).values()) for h, r in pairs) / sum(sum(h.values()) for h, _ in pairs)))
        ratio = sum(map(len, references)) / sum(map(len, hypotheses))
    except (ValueError, ZeroDivisionError):
        return 0.0
    return 100 * math.exp(math.fsum(logs) / len(logs) + min(0, 1 - ratio))


@right_answer("corpus_bleu")
def sentence_numbers_in_the_keys(hypotheses, references, max_n=4):
    def counted(sentences, n):
        return Counter((k, *words[i:i + n]) for k, words in enumerate(sentences) for i in range(len(words) - n + 1))

    precisions = []
    for n in range(1, max_n + 1):
        said, wanted = counted(hypotheses, n), counted(references, n)
        if not (said & wanted):
            return 0.0
        precisions.append((said & wanted).total() / said.total())
    c, r = (sum(1 for words in sentences for _ in words) for sentences in (hypotheses, references))
    penalty = 1 if c > r else math.exp(1 - r / c)
    return 100 * penalty * math.prod(precisions) ** (1 / max_n)
