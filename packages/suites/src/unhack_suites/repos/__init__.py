"""Repository tasks made from families of small packages, with hidden tests of known answers."""
