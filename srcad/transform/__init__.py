"""IR to IR: from a traced function to its derivatives; `pipeline` has the order.

- names of arrays: `references`, `joined_views`, `split`, `moves`
- array expressions: `fuse`, `lower`
- fewer operations, checks and loops: `simplify` and the passes that it lists
- what the reverse sweep reads: `activity`, `plan`, `unchanged`, `hits`, `affine`, `legal`
- derivatives: `adjoint` (`forward`, `reverse`, `tapes`), `tangent`, `jacobian`

Where this differs from the design, and why: `moves` is asked before `split`, because a moved name
costs nothing and a split doubles code; and only the adjoint asks it, so that values and tangents
are never refused. `return` inside loops is what `tracer.flow` makes of it: a flag and a site.
"""
