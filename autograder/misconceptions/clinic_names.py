"""Chapter 11, the names of the ten faults: names that fit the part and not the symptom.

A sentence here says what the symptom rules out, and never what it is. Each dict is right but for one name.
"""

from autograder.exercises.clinic import CHAPTER, clinic_names
from autograder.reference.clinic import NAMES

SEE = f"{CHAPTER}#mistake-look-alikes"


def _but_for(**wrong):
    return (NAMES | wrong).get


@clinic_names.misconception(see=SEE)
class leaking_mask_in_patient_1(dict):
    """You blame the mask of patient 1, but a later token that changes does not change its earlier answers."""

    get = _but_for(clinic_1="mask_one_row_off")


@clinic_names.misconception(see=SEE)
class one_row_off_in_patient_2(dict):
    """A mask that is one row off leaves weight on a later token; patient 2 has none there, as far as the map shows."""

    get = _but_for(clinic_2="mask_one_row_off")


@clinic_names.misconception(see=SEE)
class queries_softmax_in_patient_2(dict):
    """A softmax over the queries gives all of the last key's weight to the last query; patient 2 gives it little."""

    get = _but_for(clinic_2="softmax_over_the_queries")


@clinic_names.misconception(see=SEE)
class masked_queries_in_patient_3(dict):
    """With padding masked as queries, words would still read words; in patient 3 they do not."""

    get = _but_for(clinic_3="padding_masked_as_queries")


@clinic_names.misconception(see=SEE)
class no_positions_in_patient_4(dict):
    """Without any positions a row's place in the batch could not matter, and to patient 4 it does."""

    get = _but_for(clinic_4="no_positions_at_all")


@clinic_names.misconception(see=SEE)
class norm_in_patient_5(dict):
    """A norm over the sequence makes all tokens alike that stand alone; patient 5 still tells them apart."""

    get = _but_for(clinic_5="norm_over_the_sequence")


@clinic_names.misconception(see=SEE)
class merged_heads_in_patient_6(dict):
    """Wrongly merged heads are right for a token that stands alone; patient 6 cannot tell such tokens apart."""

    get = _but_for(clinic_6="heads_merged_without_transpose")


@clinic_names.misconception(see=SEE)
class lost_residual_in_patient_7(dict):
    """A residual that is lost takes no parameter away; count those of patient 7."""

    get = _but_for(clinic_7="residual_dropped")


@clinic_names.misconception(see=SEE)
class double_softmax_in_patient_8(dict):
    """With a softmax too many the loss of patient 8 could not fall below 1.69, however much it learns; it did."""

    get = _but_for(clinic_8="softmax_before_the_loss")


@clinic_names.misconception(see=SEE)
class positions_in_patient_9(dict):
    """Patient 9 got the very same batch twice, each sentence in its own row: no position has moved."""

    get = _but_for(clinic_9="positions_along_the_batch")


@clinic_names.misconception(see=SEE)
class no_positions_in_patient_10(dict):
    """Without positions patient 10 could not have learnt to copy, and when it reads everything anew it does copy."""

    get = _but_for(clinic_10="no_positions_at_all")
