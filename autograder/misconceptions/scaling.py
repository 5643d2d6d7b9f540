"""Chapter 05: the mistakes that are named, each a wrong implementation that stands alone."""

import math

import torch

from autograder.exercises.scaling import (
    CHAPTER,
    attention_entropy,
    dot_product_std,
    scaled_dot_product_attention,
    softmax_jacobian,
)

# --- dot_product_std -------------------------------------------------------------------------------------------


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def variance_returned(d_k, samples, generator):
    """You return the variance; the standard deviation is its square root."""
    q = torch.randn(samples, d_k, generator=generator)
    k = torch.randn(samples, d_k, generator=generator)
    return (q * k).sum(dim=-1).var().item()


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def already_scaled(d_k, samples, generator):
    """Your value is near 1 for every d_k: you scaled the dot products, or did not add up the features."""
    q = torch.randn(samples, d_k, generator=generator)
    k = torch.randn(samples, d_k, generator=generator)
    return ((q * k).sum(dim=-1) / d_k**0.5).std().item()


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def generator_ignored(d_k, samples, generator):
    """You draw from torch's global generator, so nobody can repeat your measurement."""
    q, k = torch.randn(samples, d_k), torch.randn(samples, d_k)
    return (q * k).sum(dim=-1).std().item()


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def generator_seeded_again(d_k, samples, generator):
    """You give the generator a seed of your own, so every measurement draws the same numbers."""
    generator.manual_seed(0)
    q = torch.randn(samples, d_k, generator=generator)
    k = torch.randn(samples, d_k, generator=generator)
    return (q * k).sum(dim=-1).std().item()


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def samples_ignored(d_k, samples, generator):
    """The number of pairs that you draw is fixed; `samples` says how many are wanted."""
    q = torch.randn(10_000, d_k, generator=generator)
    k = torch.randn(10_000, d_k, generator=generator)
    return (q * k).sum(dim=-1).std().item()


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def key_is_the_query(d_k, samples, generator):
    """Your two vectors are the same one, so you measure squared lengths; draw the key by itself."""
    q = torch.randn(samples, d_k, generator=generator)
    return (q * q).sum(dim=-1).std().item()


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def mean_instead_of_sum(d_k, samples, generator):
    """You average the products over the features; a dot product adds them up."""
    q = torch.randn(samples, d_k, generator=generator)
    k = torch.randn(samples, d_k, generator=generator)
    return (q * k).mean(dim=-1).std().item()


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def theory_returned(d_k, samples, generator):
    """You return the theoretical value; here it is to be measured on drawn samples."""
    return math.sqrt(d_k)


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def uniform_vectors(d_k, samples, generator):
    """Your vectors are uniform (`torch.rand`); standard normal ones (`torch.randn`) are asked for."""
    q = torch.rand(samples, d_k, generator=generator)
    k = torch.rand(samples, d_k, generator=generator)
    return (q * k).sum(dim=-1).std().item()


@dot_product_std.misconception(see=f"{CHAPTER}#mistake-measuring")
def absolute_values_averaged(d_k, samples, generator):
    """You average the sizes of the dot products; the standard deviation squares them first."""
    q = torch.randn(samples, d_k, generator=generator)
    k = torch.randn(samples, d_k, generator=generator)
    return (q * k).sum(dim=-1).abs().mean().item()


# --- attention_entropy -----------------------------------------------------------------------------------------


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def bits_instead_of_nats(weights):
    """You use the logarithm to base 2, which measures in bits; nats need the natural logarithm."""
    logs = torch.where(weights > 0, weights, 1.0).log2()
    return -(weights * logs).sum(dim=-1)


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def logarithm_to_base_ten(weights):
    """You use the logarithm to base 10; nats need the natural logarithm."""
    logs = torch.where(weights > 0, weights, 1.0).log10()
    return -(weights * logs).sum(dim=-1)


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def minus_sign_forgotten(weights):
    """Your entropy is negative: logarithms of numbers below 1 are, and the formula has a minus for that."""
    logs = torch.where(weights > 0, weights, 1.0).log()
    return (weights * logs).sum(dim=-1)


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def zero_gives_nan(weights):
    """The formula is right, but a weight of 0 gives 0 times minus infinity, which is NaN."""
    return -(weights * weights.log()).sum(dim=-1)


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def large_constant_in_the_logarithm(weights):
    """Your constant inside the logarithm keeps NaN away, but is too large: it changes the terms of small weights."""
    return -(weights * (weights + 1e-3).log()).sum(dim=-1)


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def averaged_over_keys(weights):
    """You average over the keys; the weights are the average already, so the terms are to be added."""
    logs = torch.where(weights > 0, weights, 1.0).log()
    return -(weights * logs).mean(dim=-1)


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def divided_by_its_maximum(weights):
    """You divide by ln n, so that your values end at 1; plain nats are asked for."""
    logs = torch.where(weights > 0, weights, 1.0).log()
    return -(weights * logs).sum(dim=-1) / math.log(weights.shape[-1])


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def summed_over_queries(weights):
    """You add up along the wrong axis: the weights of one query stand along the last one."""
    logs = torch.where(weights > 0, weights, 1.0).log()
    return -(weights * logs).sum(dim=-2)


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def softmax_applied_again(weights):
    """You apply softmax to weights that are weights already, which makes them look more spread out."""
    logs = torch.log_softmax(weights, dim=-1)
    return -(logs.exp() * logs).sum(dim=-1)


@attention_entropy.misconception(see=f"{CHAPTER}#mistake-entropy")
def summed_over_everything(weights):
    """You add up all rows into one number; each row has an entropy of its own."""
    logs = torch.where(weights > 0, weights, 1.0).log()
    return -(weights * logs).sum()


# --- softmax_jacobian ------------------------------------------------------------------------------------------


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def sign_flipped(p):
    """Your signs are the wrong way round: a larger score must raise its own probability."""
    return p.unsqueeze(-1) * p.unsqueeze(-2) - torch.diag_embed(p)


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def diagonal_missing(p):
    """You have the outer product alone; the diagonal p_i is missing."""
    return -p.unsqueeze(-1) * p.unsqueeze(-2)


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def outer_product_missing(p):
    """You have the diagonal alone; every score also lowers all the other probabilities."""
    return torch.diag_embed(p)


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def sigmoid_derivative(p):
    """You have p (1 - p) on the diagonal and nothing elsewhere: that is the sigmoid's derivative."""
    return torch.diag_embed(p * (1 - p))


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def only_one_vector(p):
    """Your formula works for a single vector; `torch.diag` and `torch.outer` know no leading axes."""
    return torch.diag(p) - torch.outer(p, p)


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def outer_products_added_up(p):
    """You add up the outer products of all rows, as `p.mT @ p` does; each row needs a matrix of its own."""
    return torch.diag_embed(p) - (p.mT @ p).unsqueeze(-3)


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def plus_instead_of_minus(p):
    """You add the outer product; it has to be taken away."""
    return torch.diag_embed(p) + p.unsqueeze(-1) * p.unsqueeze(-2)


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def diagonal_formula_everywhere(p):
    """You use p_i (1 - p_j) for every entry; the 1 belongs to the diagonal alone."""
    return p.unsqueeze(-1) * (1 - p.unsqueeze(-2))


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def softmax_of_probabilities(p):
    """You apply softmax to p, which are probabilities already, so your J is that of flatter ones."""
    p = torch.softmax(p, dim=-1)
    return torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-2)


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def identity_for_the_diagonal(p):
    """You take the outer product away from the identity; the diagonal matrix has p_i where yours has 1."""
    return torch.eye(p.size(-1)).to(p) - p.unsqueeze(-1) * p.unsqueeze(-2)


@softmax_jacobian.misconception(see=f"{CHAPTER}#mistake-jacobian")
def squares_for_the_outer_product(p):
    """You take away p_i p_i all along row i; the outer product has p_i p_j in row i and column j."""
    return torch.diag_embed(p) - p.unsqueeze(-1) * p.unsqueeze(-1)


# --- scaled_dot_product_attention ------------------------------------------------------------------------------


@scaled_dot_product_attention.misconception(see=f"{CHAPTER}#mistake-no-scaling")
def not_scaled(query, key, value):
    """Your scores are not divided by the square root of d_k before the softmax."""
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see=f"{CHAPTER}#mistake-wrong-divisor")
def divided_by_d_k(query, key, value):
    """You divide the scores by d_k (or by its square root twice); one square root is asked for."""
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1], dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see=f"{CHAPTER}#mistake-wrong-divisor")
def divided_by_root_of_keys(query, key, value):
    """You divide by the square root of the number of keys; the dot product adds up d_k features."""
    weights = torch.softmax(query @ key.transpose(-2, -1) / key.shape[-2] ** 0.5, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see=f"{CHAPTER}#mistake-wrong-divisor")
def multiplied_by_root_of_d_k(query, key, value):
    """You multiply by the square root of d_k; the scores are too large already and have to be divided."""
    weights = torch.softmax(query @ key.transpose(-2, -1) * query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see=f"{CHAPTER}#mistake-wrong-divisor")
def divided_by_root_of_d_v(query, key, value):
    """You divide by the square root of the value's width; the dot product adds up the d_k features of the key."""
    weights = torch.softmax(query @ key.transpose(-2, -1) / value.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see=f"{CHAPTER}#mistake-after-softmax")
def scaled_after_softmax(query, key, value):
    """You divide the weights, after the softmax; the scores are to be divided, before it."""
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1) / query.shape[-1] ** 0.5
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see="04_self_attention#mistake-overflow")
def maximum_not_subtracted(query, key, value):
    """The formula is right, but your own exp overflows on large scores: infinity divided by infinity is NaN."""
    exponentials = (query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5).exp()
    weights = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see="04_self_attention#mistake-in-place")
def argument_edited_in_place(query, key, value):
    """Your result is right, but you scale inside a tensor that you were given."""
    query /= query.shape[-1] ** 0.5
    weights = torch.softmax(query @ key.transpose(-2, -1), dim=-1)
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see="04_self_attention#mistake-softmax-axis")
def normalised_over_queries(query, key, value):
    """Your softmax runs down the columns: each key's weights sum to 1, where each query's should."""
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-2)
    return weights @ value, weights


@scaled_dot_product_attention.misconception(see="04_self_attention#mistake-module")
def weights_not_returned(query, key, value):
    """You return the output alone; the attention weights are asked for too."""
    return torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1) @ value


@scaled_dot_product_attention.misconception(see="04_self_attention#mistake-module")
def output_and_weights_swapped(query, key, value):
    """You return the weights first and the output second; it is the other way round."""
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return weights, weights @ value
