"""What a program IS: types, nodes, builder, walk, printer, verifier. Plain frozen data."""
