"""Python function -> IR: abstract execution of the syntax tree with typed symbolic values."""

from srcad.tracer.trace import Read, Spec, Trace, trace

__all__ = ["Read", "Spec", "Trace", "trace"]
