"""The simulated exchange: Alpaca's REST API over replayed bars; a reader starts at serve.py."""
