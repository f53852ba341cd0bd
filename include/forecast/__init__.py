"""Bars to forecasts: engines behind one protocol, their requests, and scores of paths."""
