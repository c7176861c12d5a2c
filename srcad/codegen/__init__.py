"""IR to Python source that a colleague would accept in review."""

from srcad.codegen.module import Source, source

__all__ = ["Source", "source"]
