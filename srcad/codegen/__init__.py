"""IR to Python source that a colleague would accept in review.

`folding` finds what is printed inside its reader, `ranges` what loops run over, `variables` which
values share a variable, `names` the names, `expressions` the texts of values, `module` the lines.
"""

from srcad.codegen.module import Source, source

__all__ = ["Source", "source"]
