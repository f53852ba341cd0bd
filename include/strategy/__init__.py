"""Forecasts to desired orders: levels, parameter search, honest scores, sizes, limits."""
