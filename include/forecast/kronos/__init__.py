"""Kronos, decoded exactly and fast: official checkpoints in, sample paths of whole bars out."""
