"""Chapter 09: the mistakes that are named in the cost of a layer and in the length of a path."""

import math

from autograder.exercises.comparison import CHAPTER, operations, path_length
from autograder.reference import comparison as right

# --- operations ------------------------------------------------------------------------------------------------


def counted(kind, attention, rnn, cnn):
    """The right refusal, with these counts."""
    right.operations(kind, 1, 1)
    return {"attention": attention, "rnn": rnn, "cnn": cnn}[kind]


@operations.misconception(see=f"{CHAPTER}#mistake-leading-term")
def both_products_of_attention_counted(kind, n, d, kernel=3):
    """You count the scores and the weighted sum; the leading term leaves the constant factor 2 out."""
    return counted(kind, 2 * n * n * d, n * d * d, kernel * n * d * d)


@operations.misconception(see=f"{CHAPTER}#mistake-leading-term")
def projections_of_attention_counted(kind, n, d, kernel=3):
    """You count the projections of attention as well; asked for is the term that grows with the square of n."""
    return counted(kind, n * n * d + 3 * n * d * d, n * d * d, kernel * n * d * d)


@operations.misconception(see=f"{CHAPTER}#mistake-leading-term")
def scores_without_their_width(kind, n, d, kernel=3):
    """You count n * n scores as one operation each; each is a dot product of d numbers."""
    return counted(kind, n * n, n * d * d, kernel * n * d * d)


@operations.misconception(see=f"{CHAPTER}#mistake-leading-term")
def one_step_of_the_rnn(kind, n, d, kernel=3):
    """You count one step of the RNN; a layer takes n of them."""
    return counted(kind, n * n * d, d * d, kernel * n * d * d)


@operations.misconception(see=f"{CHAPTER}#mistake-leading-term")
def input_and_state_of_the_rnn_counted(kind, n, d, kernel=3):
    """You count the product with the input and that with the state; the leading term has no factor 2."""
    return counted(kind, n * n * d, 2 * n * d * d, kernel * n * d * d)


@operations.misconception(see=f"{CHAPTER}#mistake-leading-term")
def kernel_not_counted(kind, n, d, kernel=3):
    """Your convolution costs the same for every kernel; each place of the kernel has a matrix of its own."""
    return counted(kind, n * n * d, n * d * d, n * d * d)


@operations.misconception(see=f"{CHAPTER}#mistake-leading-term")
def each_channel_by_itself(kind, n, d, kernel=3):
    """Your convolution has one weight a channel; here every output channel sees all d input channels."""
    return counted(kind, n * n * d, n * d * d, kernel * n * d)


@operations.misconception(see=f"{CHAPTER}#mistake-leading-term")
def kernel_of_an_image(kind, n, d, kernel=3):
    """You square the kernel, as for an image; a sequence has one axis, so the kernel has kernel places."""
    return counted(kind, n * n * d, n * d * d, kernel * kernel * n * d * d)


@operations.misconception(see=f"{CHAPTER}#mistake-which-square")
def squares_exchanged(kind, n, d, kernel=3):
    """You exchange length and width: attention has the square of the length, RNN and convolution that of the width."""
    return right.operations(kind, d, n, kernel)


@operations.misconception(see=f"{CHAPTER}#mistake-which-square")
def convolution_with_the_length_squared(kind, n, d, kernel=3):
    """You square the length for the convolution; each position sees a few others, and the width counts twice."""
    return counted(kind, n * n * d, n * d * d, kernel * n * n * d)


@operations.misconception(see=f"{CHAPTER}#mistake-unknown-kind")
def every_other_kind_is_a_convolution(kind, n, d, kernel=3):
    """You take every kind that is not one of the first two for a convolution; another kind is a ValueError."""
    return right.operations(kind if kind in ("attention", "rnn") else "cnn", n, d, kernel)


@operations.misconception(see=f"{CHAPTER}#mistake-unknown-kind")
def a_kind_that_is_not_there_costs_nothing(kind, n, d, kernel=3):
    """You answer 0 for a kind that does not exist; a typing error then looks like a result, so raise a ValueError."""
    return right.operations(kind, n, d, kernel) if kind in right.KINDS else 0


@operations.misconception(see=f"{CHAPTER}#mistake-unknown-kind")
def key_error_for_another_kind(kind, n, d, kernel=3):
    """You look the kind up in a dict, which raises a KeyError; asked for is a ValueError that names the three kinds."""
    return {"attention": n * n * d, "rnn": n * d * d, "cnn": kernel * n * d * d}[kind]


# --- path_length -----------------------------------------------------------------------------------------------


def path(kind, attention, rnn, cnn):
    """The right refusal, with these lengths; that of the convolution is a function, called where it is asked for."""
    right.path_length(kind, 2)
    return {"attention": lambda: attention, "rnn": lambda: rnn, "cnn": cnn}[kind]()


def plain_or(dilated, n, kernel, with_dilation):
    """The right length without dilation, another one with it."""
    return with_dilation() if dilated else right.path_length("cnn", n, kernel)


@path_length.misconception(see=f"{CHAPTER}#mistake-steps-between")
def positions_of_the_rnn_counted(kind, n, kernel=3, dilated=False):
    """You count the n positions of the RNN; between the first and the last of them lie n - 1 steps."""
    return path(kind, 1, n, lambda: right.path_length("cnn", n, kernel, dilated))


@path_length.misconception(see=f"{CHAPTER}#mistake-steps-between")
def attention_without_a_layer(kind, n, kernel=3, dilated=False):
    """Your path of attention has no layer at all; the first position reaches the last in one."""
    return path(kind, 0, n - 1, lambda: right.path_length("cnn", n, kernel, dilated))


@path_length.misconception(see=f"{CHAPTER}#mistake-steps-between")
def a_whole_kernel_further(kind, n, kernel=3, dilated=False):
    """You let a plain layer look kernel positions further back; one of its places is the position itself."""
    return path(kind, 1, n - 1, lambda: right.path_length("cnn", n, kernel, True) if dilated
                else math.ceil((n - 1) / kernel))


@path_length.misconception(see=f"{CHAPTER}#mistake-steps-between")
def positions_of_the_convolution_counted(kind, n, kernel=3, dilated=False):
    """Without dilation you divide n by kernel - 1; between the first position and the last lie n - 1 steps."""
    return path(kind, 1, n - 1, lambda: right.path_length("cnn", n, kernel, True) if dilated
                else math.ceil(n / (kernel - 1)))


@path_length.misconception(see=f"{CHAPTER}#mistake-log-needs-dilation")
def logarithm_without_dilation(kind, n, kernel=3, dilated=False):
    """Your plain convolution has a path of log n; without dilation a layer adds kernel - 1 positions, and no more."""
    return path(kind, 1, n - 1, lambda: right.path_length("cnn", n, kernel, True))


@path_length.misconception(see=f"{CHAPTER}#mistake-log-needs-dilation")
def dilation_without_effect(kind, n, kernel=3, dilated=False):
    """Dilation changes nothing in your answer; with it, each layer multiplies what is seen by kernel."""
    return path(kind, 1, n - 1, lambda: right.path_length("cnn", n, kernel, False))


@path_length.misconception(see=f"{CHAPTER}#mistake-log-needs-dilation")
def dilation_that_doubles(kind, n, kernel=3, dilated=False):
    """Your dilation doubles from layer to layer; here it is kernel^layer, so what is seen grows by that factor."""
    def doubling():
        layers, seen = 0, 1
        while seen < n:
            seen, layers = seen + (kernel - 1) * 2**layers, layers + 1
        return layers

    return path(kind, 1, n - 1, lambda: plain_or(dilated, n, kernel, doubling))


@path_length.misconception(see=f"{CHAPTER}#mistake-log-needs-dilation")
def logarithm_to_the_base_two(kind, n, kernel=3, dilated=False):
    """Your logarithm has the base 2 for every kernel; with dilation kernel^layer the base is kernel."""
    return path(kind, 1, n - 1, lambda: plain_or(dilated, n, kernel, lambda: (n - 1).bit_length()))


@path_length.misconception(see=f"{CHAPTER}#mistake-float-logarithm")
def logarithm_of_floats(kind, n, kernel=3, dilated=False):
    """Your logarithm is a float: 125 = 5^3, yet log(125, 5) is a little more than 3 and is rounded up to 4."""
    return path(kind, 1, n - 1, lambda: plain_or(dilated, n, kernel, lambda: math.ceil(math.log(n, kernel))))


@path_length.misconception(see=f"{CHAPTER}#mistake-float-logarithm")
def divided_and_rounded_down(kind, n, kernel=3, dilated=False):
    """Without dilation you round down; a last layer that is only partly needed is still a layer."""
    return path(kind, 1, n - 1, lambda: right.path_length("cnn", n, kernel, True) if dilated
                else (n - 1) // (kernel - 1))


@path_length.misconception(see=f"{CHAPTER}#mistake-float-logarithm")
def one_layer_more_at_a_power(kind, n, kernel=3, dilated=False):
    """With dilation you look for kernel^L larger than n; kernel^L equal to n is enough."""
    return path(kind, 1, n - 1, lambda: right.path_length("cnn", n + dilated, kernel, dilated))


@path_length.misconception(see=f"{CHAPTER}#mistake-future-in-window")
def window_on_both_sides(kind, n, kernel=3, dilated=False):
    """You centre the window; a causal one lies on the past alone, so a plain layer looks kernel - 1 positions back."""
    return path(kind, 1, n - 1, lambda: right.path_length("cnn", n, kernel, True) if dilated
                else math.ceil((n - 1) / max(1, kernel // 2)))


@path_length.misconception(see=f"{CHAPTER}#mistake-unknown-kind")
def every_other_path_is_a_convolution(kind, n, kernel=3, dilated=False):
    """You take every kind that is not one of the first two for a convolution; another kind is a ValueError."""
    return right.path_length(kind if kind in ("attention", "rnn") else "cnn", n, kernel, dilated)


@path_length.misconception(see=f"{CHAPTER}#mistake-unknown-kind")
def nothing_for_another_kind(kind, n, kernel=3, dilated=False):
    """You return None for a kind that does not exist; asked for is a ValueError that names the three kinds."""
    return right.path_length(kind, n, kernel, dilated) if kind in right.KINDS else None
