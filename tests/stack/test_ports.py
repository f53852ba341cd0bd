"""Free ports of loopback."""

import socket

from include.stack.ports import free_ports, is_free, preferred_port


def test_free_ports_differ_and_can_be_listened_on():
    """Several are asked for at once, so that none is given twice."""
    ports = free_ports(5)
    assert len(set(ports)) == 5
    assert all(is_free(port) for port in ports)


def test_a_taken_port_is_replaced_by_a_free_one():
    """The preferred port is used when free, another one when not."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
        other = preferred_port(port)
        assert other != port
        assert preferred_port(other) == other
