"""Bars to forecasts: engines behind one protocol, their contexts, and the scores of their paths."""
