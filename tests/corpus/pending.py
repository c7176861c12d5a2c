"""What srcad still refuses: the program and the reason. A line goes when the program passes.

Each of these must be refused with UnsupportedSyntax; a wrong number, or another error, fails.
"""

_AXIS = "reductions along an axis"
_REBOUND = "array names rebound in a loop"
_RESHAPE = "reshape and ravel"
_TUPLE = "a tuple under a run-time index"
_WHERE = "np.where on arrays"

PENDING = {
    "array_chosen_by_flag": "arrays joined at a branch",
    "array_clip": "np.clip",
    "array_where": _WHERE,
    "for_enumerate_zip": "enumerate and zip over arrays",
    "mean_and_product_along_axis": _AXIS,
    "more_constructors": "asarray, arange, full_like",
    "name_rebound_in_loop": _REBOUND,
    "pair_weights_diagonal": _AXIS,
    "ping_pong_buffers": _REBOUND,
    "quotient_and_remainder": "divmod",
    "reshaped": _RESHAPE,
    "rounded": "round",
    "scalar_clip": "np.clip",
    "set_in_one_branch": "a name that only some paths set",
    "softmax_rows": _AXIS,
    "strided_range": "a range whose step is known only at run time",
    "sum_along_axes": _AXIS,
    "transpose_reshaped": _RESHAPE,
    "tuple_of_floats": _TUPLE,
    "tuple_of_matrices": _TUPLE,
    "view_returned": "slices with a step",
    "where_untaken_nan": _WHERE,
}
