"""Right answers to the counting exercises of chapter 09, each written in another way."""

import math

from autograder.right_answers import right_answer

# --- operations ------------------------------------------------------------------------------------------------


@right_answer("operations")
def looked_up(kind, n, d, kernel=3):
    counts = {"attention": n**2 * d, "rnn": n * d**2, "cnn": kernel * n * d**2}
    if kind not in counts:
        raise ValueError(f"kind must be one of {sorted(counts)}, not {kind}")
    return counts[kind]


@right_answer("operations")
def one_branch_for_each(kind, n, d, kernel=3):
    if kind == "attention":
        return n * n * d
    if kind == "rnn":
        return n * d * d
    if kind == "cnn":
        return kernel * n * d * d
    raise ValueError("unknown kind, use attention, rnn or cnn")


@right_answer("operations")
def matched(kind, n, d, kernel=3):
    match kind:
        case "attention":
            factors = n, n, d
        case "rnn":
            factors = n, d, d
        case "cnn":
            factors = kernel, n, d, d
        case _:
            raise ValueError('"attention" | "rnn" | "cnn"')
    return math.prod(factors)


@right_answer("operations")
def key_error_turned_into_a_value_error(kind, n, d, kernel=3):
    try:
        per_position = {"attention": lambda: n, "rnn": lambda: d, "cnn": lambda: kernel * d}[kind]()
    except KeyError:
        raise ValueError(f"{kind!r}: choose attention, rnn, cnn") from None
    return n * d * per_position


@right_answer("operations")
def as_an_rnn_for_each_place(kind, n, d, kernel=3):
    if kind not in ("cnn", "rnn", "attention"):
        raise ValueError("kind is one of cnn, rnn, attention")
    if kind == "cnn":
        return kernel * as_an_rnn_for_each_place("rnn", n, d)
    return n * d * (d if kind == "rnn" else n)


@right_answer("operations")
def added_up(kind, n, d, kernel=3):
    names = ["attention", "rnn", "cnn"]
    if kind not in names:
        raise ValueError("Only these: " + ", ".join(names))
    total = 0
    for _ in range(n):
        total += [n * d, d * d, kernel * d * d][names.index(kind)]
    return total


@right_answer("operations")
def with_an_error_of_its_own_text(kind, n, d, kernel=3):
    work = n * d
    if kind == "attention":
        work *= n
    elif kind == "rnn":
        work *= d
    elif kind == "cnn":
        work = work * d * kernel
    else:
        raise ValueError(f"operations() knows attention, rnn and cnn, and got {kind}.")
    return int(work)


# --- path_length -----------------------------------------------------------------------------------------------


@right_answer("path_length")
def multiplied_until_it_is_reached(kind, n, kernel=3, dilated=False):
    if kind == "attention":
        return 1
    if kind == "rnn":
        return n - 1
    if kind != "cnn":
        raise ValueError("kind has to be attention, rnn or cnn")
    if not dilated:
        return math.ceil((n - 1) / (kernel - 1))
    layers = 0
    while kernel**layers < n:
        layers += 1
    return layers


@right_answer("path_length")
def divided_until_one_is_left(kind, n, kernel=3, dilated=False):
    steps = {"attention": 1, "rnn": n - 1, "cnn": -(-(n - 1) // (kernel - 1))}
    if kind not in steps:
        raise ValueError(f"{kind} is none of {', '.join(steps)}")
    if kind == "cnn" and dilated:
        layers = 0
        while n > 1:
            n, layers = -(-n // kernel), layers + 1
        return layers
    return steps[kind]


@right_answer("path_length")
def rounded_logarithm_put_right(kind, n, kernel=3, dilated=False):
    if kind not in ["attention", "rnn", "cnn"]:
        raise ValueError("attention? rnn? cnn?")
    if kind == "cnn" and dilated:
        guess = round(math.log(n) / math.log(kernel))
        return next(layers for layers in (guess - 1, guess, guess + 1) if kernel**layers >= n)
    return {"attention": 1, "rnn": n - 1}.get(kind, (n + kernel - 3) // (kernel - 1))


@right_answer("path_length")
def digits_of_n_minus_one(kind, n, kernel=3, dilated=False):
    """The smallest L with kernel^L > n - 1 is the number of digits of n - 1 in the base kernel."""
    def digits(number):
        return 0 if number == 0 else 1 + digits(number // kernel)

    if kind == "attention":
        return 1
    elif kind == "rnn":
        return n - 1
    elif kind == "cnn":
        return digits(n - 1) if dilated else -((1 - n) // (kernel - 1))
    else:
        raise ValueError("Unknown: " + kind + ". Known: attention, rnn, cnn.")


@right_answer("path_length")
def window_grown_layer_by_layer(kind, n, kernel=3, dilated=False):
    match kind:
        case "attention" | "rnn":
            return 1 if kind == "attention" else n - 1
        case "cnn":
            back, layer = 0, 0
            while back < n - 1:
                back += (kernel - 1) * (kernel**layer if dilated else 1)
                layer += 1
            return layer
    raise ValueError(f"{kind!r} is not attention, rnn or cnn")


@right_answer("path_length")
def positions_walked_back(kind, n, kernel=3, dilated=False):
    known = ("attention", "rnn", "cnn")
    if kind not in known:
        raise ValueError(f"one of {known}, please")
    if kind == "attention":
        return 1
    if kind == "rnn":
        return len(range(1, n))
    position, layers = n - 1, 0
    while position > 0:
        position -= (kernel - 1) * kernel ** (layers * dilated)
        layers += 1
    return layers


@right_answer("path_length")
def logarithm_with_a_hair_taken_off(kind, n, kernel=3, dilated=False):
    if kind == "cnn":
        return math.ceil(math.log(n, kernel) - 1e-9) if dilated else 1 + (n - 2) // (kernel - 1)
    if kind in ("attention", "rnn"):
        return n - 1 if kind == "rnn" else 1
    raise ValueError("kind: attention, rnn, cnn")


@right_answer("path_length")
def searched_among_all(kind, n, kernel=3, dilated=False):
    if kind not in ("attention", "rnn", "cnn"):
        raise ValueError("attention, rnn and cnn are the kinds")
    grow = (lambda layers: kernel**layers) if dilated else (lambda layers: 1 + layers * (kernel - 1))
    return {"attention": 1, "rnn": n - 1}.get(kind) or min(layers for layers in range(n) if grow(layers) >= n)
