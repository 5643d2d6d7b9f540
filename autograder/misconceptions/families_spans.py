"""Chapter 10: the mistakes that are named in the gaps that an encoder-decoder fills, each a wrong implementation."""

from autograder.exercises.families import CHAPTER, span_corruption

# --- span_corruption -------------------------------------------------------------------------------------------


@span_corruption.misconception(see=f"{CHAPTER}#mistake-sentinels")
def final_sentinel_forgotten(tokens, spans, sentinels):
    """Your targets end with the last span; one sentinel more tells the decoder that this was all."""
    inputs, targets, copied = [], [], 0
    for i, (start, end) in enumerate(spans):
        inputs += [*tokens[copied:start], sentinels[i]]
        targets += [sentinels[i], *tokens[start:end]]
        copied = end
    return inputs + tokens[copied:], targets


@span_corruption.misconception(see=f"{CHAPTER}#mistake-sentinels")
def same_sentinel_for_all(tokens, spans, sentinels):
    """Every span gets the same sentinel, so nobody can tell which part of the targets belongs where."""
    inputs, targets, copied = [], [], 0
    for start, end in spans:
        inputs += [*tokens[copied:start], sentinels[0]]
        targets += [sentinels[0], *tokens[start:end]]
        copied = end
    return inputs + tokens[copied:], [*targets, sentinels[0]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-sentinels")
def last_given_sentinel_at_the_end(tokens, spans, sentinels):
    """You end with the last sentinel of the list; the next unused one is asked for."""
    inputs, targets, copied = [], [], 0
    for i, (start, end) in enumerate(spans):
        inputs += [*tokens[copied:start], sentinels[i]]
        targets += [sentinels[i], *tokens[start:end]]
        copied = end
    return inputs + tokens[copied:], [*targets, sentinels[-1]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-sentinels")
def one_sentinel_a_token(tokens, spans, sentinels):
    """You write a sentinel for each hidden token; a span, however long, is replaced by one."""
    inputs, targets, copied = [], [], 0
    for i, (start, end) in enumerate(spans):
        inputs += tokens[copied:start] + [sentinels[i]] * (end - start)
        targets += [sentinels[i], *tokens[start:end]]
        copied = end
    return inputs + tokens[copied:], [*targets, sentinels[len(spans)]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-sentinels")
def sentinel_after_its_span(tokens, spans, sentinels):
    """In your targets a sentinel follows its span; it comes first, to say what is filled in next."""
    inputs, targets, copied = [], [], 0
    for i, (start, end) in enumerate(spans):
        inputs += [*tokens[copied:start], sentinels[i]]
        targets += [*tokens[start:end], sentinels[i]]
        copied = end
    return inputs + tokens[copied:], [*targets, sentinels[len(spans)]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-sentinels")
def targets_without_sentinels(tokens, spans, sentinels):
    """Your targets hold the spans alone; each needs its sentinel before it."""
    inputs, targets, copied = [], [], 0
    for i, (start, end) in enumerate(spans):
        inputs += [*tokens[copied:start], sentinels[i]]
        targets += tokens[start:end]
        copied = end
    return inputs + tokens[copied:], [*targets, sentinels[len(spans)]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-span-edges")
def end_included(tokens, spans, sentinels):
    """You take the token at `end` into the span; the end is exclusive, as in a slice."""
    inputs, targets, copied = [], [], 0
    for i, (start, end) in enumerate(spans):
        inputs += [*tokens[copied:start], sentinels[i]]
        targets += [sentinels[i], *tokens[start:end + 1]]
        copied = end + 1
    return inputs + tokens[copied:], [*targets, sentinels[len(spans)]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-span-edges")
def rest_forgotten(tokens, spans, sentinels):
    """What stands after the last span is missing from your inputs."""
    inputs, targets, copied = [], [], 0
    for i, (start, end) in enumerate(spans):
        inputs += [*tokens[copied:start], sentinels[i]]
        targets += [sentinels[i], *tokens[start:end]]
        copied = end
    return inputs, [*targets, sentinels[len(spans)]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-span-edges")
def cut_while_positions_move(tokens, spans, sentinels):
    """You cut the spans out one after the other, and each cut moves the positions of the next ones."""
    inputs, targets = list(tokens), []
    for i, (start, end) in enumerate(spans):
        targets += [sentinels[i], *inputs[start:end]]
        inputs[start:end] = [sentinels[i]]
    return inputs, [*targets, sentinels[len(spans)]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-span-edges")
def touching_spans_joined(tokens, spans, sentinels):
    """You join spans that touch into one; each keeps a sentinel of its own."""
    joined = []
    for start, end in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    inputs, targets, copied = [], [], 0
    for i, (start, end) in enumerate(joined):
        inputs += [*tokens[copied:start], sentinels[i]]
        targets += [sentinels[i], *tokens[start:end]]
        copied = end
    return inputs + tokens[copied:], [*targets, sentinels[len(joined)]]


@span_corruption.misconception(see=f"{CHAPTER}#mistake-span-edges")
def whole_sequence_as_targets(tokens, spans, sentinels):
    """Your targets repeat the whole sequence; here only what is missing is to be written."""
    inputs, copied = [], 0
    for i, (start, end) in enumerate(spans):
        inputs += [*tokens[copied:start], sentinels[i]]
        copied = end
    return inputs + tokens[copied:], list(tokens)
