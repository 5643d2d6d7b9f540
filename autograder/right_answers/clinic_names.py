"""The ten names of chapter 11's clinic, written down in several ways; as a class, whose `get` is a dict's."""

from autograder.right_answers import right_answer


@right_answer("clinic_names")
class WrittenOut(dict):
    get = {
        "clinic_1": "target_not_shifted",
        "clinic_2": "mask_after_softmax",
        "clinic_3": "mask_polarity_inverted",
        "clinic_4": "positions_along_the_batch",
        "clinic_5": "heads_merged_without_transpose",
        "clinic_6": "norm_over_the_sequence",
        "clinic_7": "layers_share_weights",
        "clinic_8": "loss_counts_padding",
        "clinic_9": "dropout_in_evaluation",
        "clinic_10": "cache_position_restarts",
    }.get


@right_answer("clinic_names")
class AsKeywords(dict):
    get = (lambda **names: names)(
        clinic_1="target_not_shifted", clinic_2="mask_after_softmax", clinic_3="mask_polarity_inverted",
        clinic_4="positions_along_the_batch", clinic_5="heads_merged_without_transpose",
        clinic_6="norm_over_the_sequence", clinic_7="layers_share_weights", clinic_8="loss_counts_padding",
        clinic_9="dropout_in_evaluation", clinic_10="cache_position_restarts").get


@right_answer("clinic_names")
class CountedAlong(dict):
    get = {f"clinic_{number}": name for number, name in enumerate((
        "target_not_shifted", "mask_after_softmax", "mask_polarity_inverted", "positions_along_the_batch",
        "heads_merged_without_transpose", "norm_over_the_sequence", "layers_share_weights", "loss_counts_padding",
        "dropout_in_evaluation", "cache_position_restarts"), start=1)}.get


@right_answer("clinic_names")
class Zipped(dict):
    get = dict(zip(("clinic_5", "clinic_7", "clinic_10", "clinic_1", "clinic_2",
                    "clinic_3", "clinic_4", "clinic_6", "clinic_8", "clinic_9"),
                   ("heads_merged_without_transpose", "layers_share_weights", "cache_position_restarts",
                    "target_not_shifted", "mask_after_softmax", "mask_polarity_inverted", "positions_along_the_batch",
                    "norm_over_the_sequence", "loss_counts_padding", "dropout_in_evaluation"), strict=True)).get


@right_answer("clinic_names")
class PartByPart(dict):
    get = ({"clinic_1": "target_not_shifted", "clinic_8": "loss_counts_padding"}
           | {"clinic_2": "mask_after_softmax", "clinic_3": "mask_polarity_inverted"}
           | {"clinic_4": "positions_along_the_batch", "clinic_10": "cache_position_restarts"}
           | {"clinic_5": "heads_merged_without_transpose", "clinic_7": "layers_share_weights"}
           | {"clinic_6": "norm_over_the_sequence", "clinic_9": "dropout_in_evaluation"}).get


@right_answer("clinic_names")
class OneOfThemCorrected(dict):
    """A patient who is named twice has the later name; what is no patient is nobody's business."""

    get = {
        "clinic_1": "mask_one_row_off", "clinic_2": "mask_after_softmax", "clinic_3": "mask_polarity_inverted",
        "clinic_4": "positions_along_the_batch", "clinic_5": "heads_merged_without_transpose",
        "clinic_6": "norm_over_the_sequence", "clinic_7": "layers_share_weights", "clinic_8": "loss_counts_padding",
        "clinic_9": "dropout_in_evaluation", "clinic_10": "cache_position_restarts",
        "clinic_11": "healthy", **{"clinic_1": "target_not_shifted"},
    }.get


@right_answer("clinic_names")
class Spelt(dict):
    """From shorter words, joined."""

    get = {f"clinic_{row.split()[0]}": "_".join(row.split()[1:]) for row in (
        "1 target not shifted", "2 mask after softmax", "3 mask polarity inverted", "4 positions along the batch",
        "5 heads merged without transpose", "6 norm over the sequence", "7 layers share weights",
        "8 loss counts padding", "9 dropout in evaluation", "10 cache position restarts")}.get
