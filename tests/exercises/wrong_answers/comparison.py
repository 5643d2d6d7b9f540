"""Chapter 09: work and paths. The layers and the tiled attention are in comparison_layers.py."""

import math

import torch

from autograder.reference.comparison import operations, path_length


def counted(attention="n * n * d", rnn="n * d * d", cnn="kernel * n * d * d"):
    """The three counts as formulas, with the right refusal."""
    formulas = {"attention": attention, "rnn": rnn, "cnn": cnn}

    def answer(kind, n, d, kernel=3):
        operations(kind, n, d, kernel)
        return eval(formulas[kind], {"n": n, "d": d, "kernel": kernel, "math": math})

    return answer


def refusing(compute, error=ValueError, text="attention, rnn or cnn"):
    """The right numbers, with another refusal."""
    def answer(kind, *sizes):
        if kind not in ("attention", "rnn", "cnn"):
            raise error(text)
        return compute(kind, *sizes)

    return answer


def found_in_a_text(compute):
    def answer(kind, *sizes):
        if kind not in "attention rnn cnn":
            raise ValueError("attention, rnn, cnn")
        return compute(kind if kind in ("attention", "rnn") else "cnn", *sizes)

    return answer


def first_letter_alone(compute):
    def answer(kind, *sizes):
        return compute({"a": "attention", "r": "rnn", "c": "cnn"}.get(kind[0], kind), *sizes)

    return answer


def printed(compute):
    def answer(*args):
        print(compute(*args))

    return answer


def kernel_default(default):
    return lambda kind, n, d, kernel=default: operations(kind, n, d, kernel)


OPERATIONS = {
    "attention d d": counted(attention="n * d * d"),
    "attention cubed": counted(attention="n * n * n"),
    "attention n d": counted(attention="n * d"),
    "attention n n plus d": counted(attention="n * n + d"),
    "attention twice d": counted(attention="n * n * d * d"),
    "half of the scores": counted(attention="n * (n + 1) // 2 * d"),
    "attention without itself": counted(attention="n * (n - 1) * d"),
    "rnn n d": counted(rnn="n * d"),
    "rnn n n d": counted(rnn="n * n * d"),
    "rnn steps n minus one": counted(rnn="(n - 1) * d * d"),
    "rnn with bias": counted(rnn="n * (d * d + d)"),
    "rnn times kernel": counted(rnn="kernel * n * d * d"),
    "rnn with three gates": counted(rnn="3 * n * d * d"),
    "cnn n d": counted(cnn="n * d"),
    "cnn of one channel": counted(cnn="kernel * n"),
    "cnn separable": counted(cnn="kernel * n * d + n * d * d"),
    "cnn without padding": counted(cnn="kernel * max(n - kernel + 1, 0) * d * d"),
    "cnn with a kernel of 3": counted(cnn="3 * n * d * d"),
    "cnn in log n layers": counted(cnn="kernel * n * d * d * math.ceil(math.log(n, kernel))"),
    "default kernel 5": kernel_default(5),
    "default kernel 2": kernel_default(2),
    "float": lambda *args: float(operations(*args)),
    "tensor": lambda *args: torch.tensor(operations(*args)),
    "text": lambda *args: str(operations(*args)),
    "printed": printed(operations),
    "big O as text": lambda kind, *_: {"attention": "n^2 d", "rnn": "n d^2", "cnn": "k n d^2"}[kind],
    "doubled because of additions": lambda kind, n, d, kernel=3: 2 * operations(kind, n, d, kernel) - n * d,
    "width and length exchanged": lambda kind, n, d, kernel=3: operations(kind, d, n, kernel),
    "a TypeError for another kind": refusing(operations, TypeError),
    "an Exception for another kind": refusing(operations, Exception),
    "an AssertionError for another kind": refusing(operations, AssertionError),
    "a refusal without the names": refusing(operations, text="unknown kind"),
    "a refusal with two of the names": refusing(operations, text="attention or rnn"),
    "the kind is found in a text": found_in_a_text(operations),
    "the first letter decides": first_letter_alone(operations),
    "one for another kind": lambda kind, *sizes: operations(kind, *sizes) if len(kind) in (3, 9) else 1,
}


def paths(attention="1", rnn="n - 1", plain=None, with_dilation=None):
    """The lengths as formulas, None for the right one, with the right refusal."""
    def answer(kind, n, kernel=3, dilated=False):
        right = path_length(kind, n, kernel, dilated)
        formula = {"attention": attention, "rnn": rnn, "cnn": with_dilation if dilated else plain}[kind]
        return right if formula is None else eval(formula, {"n": n, "k": kernel, "math": math, "right": right})

    return answer


def path_default(kernel=3, dilated=False):
    first, second = kernel, dilated
    return lambda kind, n, kernel=first, dilated=second: path_length(kind, n, kernel, dilated)


PATH_LENGTH = {
    "attention two": paths(attention="2"),
    "attention n": paths(attention="n"),
    "attention n minus one": paths(attention="n - 1"),
    "attention log": paths(attention="math.ceil(math.log2(n))"),
    "rnn n plus one": paths(rnn="n + 1"),
    "rnn one": paths(rnn="1"),
    "rnn n minus two": paths(rnn="n - 2"),
    "rnn divided by the kernel": paths(rnn="-(-(n - 1) // (k - 1))"),
    "rnn half": paths(rnn="n // 2"),
    "plain one": paths(plain="1"),
    "plain n": paths(plain="n"),
    "plain n minus one": paths(plain="n - 1"),
    "plain n over k": paths(plain="-(-n // k)"),
    "plain rounded to the nearest": paths(plain="round((n - 1) / (k - 1))"),
    "plain one more": paths(plain="right + 1"),
    "plain one more when it divides": paths(plain="(n - 1) // (k - 1) + 1"),
    "plain n minus kernel": paths(plain="-(-(n - k) // (k - 1))"),
    "plain a float": paths(plain="(n - 1) / (k - 1)"),
    "dilated rounded to the nearest": paths(with_dilation="round(math.log(n, k))"),
    "dilated rounded down": paths(with_dilation="int(math.log(n, k))"),
    "dilated rounded down and one": paths(with_dilation="int(math.log(n, k)) + 1"),
    "dilated quotient of logarithms": paths(with_dilation="math.ceil(math.log(n) / math.log(k))"),
    "dilated log of n minus one": paths(with_dilation="math.ceil(math.log(n - 1, k)) if n > 2 else 1"),
    "dilated log of kernel minus one": paths(with_dilation="math.ceil(math.log(n, k - 1)) if k > 2 else right"),
    "dilated one less": paths(with_dilation="right - 1"),
    "dilated natural logarithm": paths(with_dilation="math.ceil(math.log(n))"),
    "dilated divided by the logarithm": paths(with_dilation="math.ceil(n / math.log(k))"),
    "dilated a float": paths(with_dilation="math.log(n, k)"),
    "dilation for all": path_default(dilated=True),
    "default kernel 2": path_default(kernel=2),
    "kernel left at 3": lambda kind, n, kernel=3, dilated=False: path_length(kind, n, 3, dilated),
    "float": lambda *args: float(path_length(*args)),
    "tensor": lambda *args: torch.tensor(path_length(*args)),
    "printed": printed(path_length),
    "big O as text": lambda kind, *_: {"attention": "1", "rnn": "n", "cnn": "log n"}[kind],
    "a TypeError for another kind": refusing(path_length, TypeError),
    "a KeyError for another kind": refusing(path_length, KeyError),
    "a refusal without the names": refusing(path_length, text="unknown kind"),
    "the kind is found in a text": found_in_a_text(path_length),
    "the first letter decides": first_letter_alone(path_length),
    "infinite for another kind": lambda kind, *args: path_length(kind, *args) if len(kind) in (3, 9) else math.inf,
}

WRONG = {"operations": OPERATIONS, "path_length": PATH_LENGTH}

NAMED = {
    ("operations", "attention d d"): "squares_exchanged",
    ("operations", "rnn n n d"): "squares_exchanged",
    ("operations", "width and length exchanged"): "squares_exchanged",
    ("path_length", "plain one more when it divides"): "positions_of_the_convolution_counted",
    ("path_length", "dilated rounded down and one"): "one_layer_more_at_a_power",
    ("path_length", "dilated quotient of logarithms"): "logarithm_of_floats",
}
