"""The venue's trading side: the port, Alpaca's paper account, and what orders should become."""
