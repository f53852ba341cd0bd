"""The simulated exchange: Alpaca's trading and market-data REST API over replayed bars; start at serve.py."""
