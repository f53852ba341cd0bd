"""Tests of Tradewind; each mirrors the module it names."""
