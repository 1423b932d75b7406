"""A real, small SMTP server on loopback, in a thread of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_string
from email.message import Message

__all__ = ["Mailbox", "mailbox"]


class Mailbox:
    """What came in. With `refuse`, every receiver is turned away."""

    def __init__(self, *, refuse: bool = False) -> None:
        self.messages: list[Message] = []
        self.receivers: list[str] = []
        self.logins: list[str] = []
        self.port = 0
        self._refuse = refuse

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def say(line: str) -> None:
            writer.write(f"{line}\r\n".encode())

        say("220 mailbox")
        while line := (await reader.readline()).decode():
            word = line.split()[0].upper() if line.split() else ""
            if word == "EHLO":
                say("250-mailbox")
                say("250 AUTH PLAIN")
            elif word == "AUTH":
                self.logins.append(line.split()[-1])
                say("235 welcome")
            elif word == "RCPT":
                self.receivers.append(line.partition("<")[2].partition(">")[0])
                say("550 nobody here" if self._refuse else "250 ok")
            elif word == "DATA":
                say("354 go on")
                lines = []
                while (part := (await reader.readline()).decode()) not in (".\r\n", ""):
                    lines.append(part.removeprefix("."))
                self.messages.append(message_from_string("".join(lines)))
                say("250 kept")
            elif word == "QUIT":
                say("221 bye")
                break
            else:
                say("250 ok")
        writer.close()


@contextmanager
def mailbox(*, refuse: bool = False) -> Iterator[Mailbox]:
    """Run a server on a free port and lend what it takes in."""
    box, loop, ready = Mailbox(refuse=refuse), asyncio.new_event_loop(), threading.Event()
    stop = asyncio.Event()

    async def serve() -> None:
        server = await asyncio.start_server(box._talk, "127.0.0.1", 0)
        box.port = server.sockets[0].getsockname()[1]
        ready.set()
        async with server:
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait(10)
    try:
        yield box
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
