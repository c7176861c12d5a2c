"""What srcad still refuses: the program and the reason. A line goes when the program passes.

Each of these must be refused with UnsupportedSyntax; a wrong number, or another error, fails.
"""

_REBOUND = "array names rebound in a loop"
_TUPLE = "a tuple under a run-time index"

PENDING = {
    "array_chosen_by_flag": "arrays joined at a branch",
    "for_enumerate_zip": "enumerate and zip over arrays",
    "name_rebound_in_loop": _REBOUND,
    "ping_pong_buffers": _REBOUND,
    "set_in_one_branch": "a name that only some paths set",
    "strided_range": "a range whose step is known only at run time",
    "tuple_of_floats": _TUPLE,
    "tuple_of_matrices": _TUPLE,
}
