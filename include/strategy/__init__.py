"""Forecasts to desired orders: levels, the search over parameters, honest scores, sizes, limits."""
