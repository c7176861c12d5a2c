"""IR to IR: references, activity, plan, adjoint, tangent."""
