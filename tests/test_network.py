"""The suite itself: no test may reach beyond loopback."""

import socket

import pytest
from pytest_socket import SocketConnectBlockedError


def test_no_test_can_reach_another_machine() -> None:
    with socket.socket() as connection, pytest.warns(UserWarning, match="192.0.2.1"):
        with pytest.raises(SocketConnectBlockedError):
            connection.connect(("192.0.2.1", 80))
