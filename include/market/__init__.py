"""From the outside world to bars, quotes and sessions, and the gate that refuses bad data."""
