"""A PostgreSQL server for the tests: yours (ZOMEM_TEST_POSTGRES_URL), or one of their own in a temporary folder.

One server a session, one database a test, used again by the next when it was emptied. A server of their own
needs PostgreSQL's programs and, for root, a user to run it as; it listens on loopback only. Yours needs a user
who may make databases and set session_replication_role.
"""

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import psycopg
from sqlalchemy import make_url

from zomem_graph.stores.database import Database
from zomem_graph.stores.schema import prepare

__all__ = ["GIVEN_URL", "NoServer", "PostgresServer", "running_server"]

GIVEN_URL = os.environ.get("ZOMEM_TEST_POSTGRES_URL")  # before the tests' environment is cleaned
_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
_QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200", "shared_buffers=64MB")
_LONELY = """select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()"""
_FILLED = """select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
    and relname <> 'alembic_version'"""


class NoServer(Exception):
    """There is no server and none can be started; says why."""


class PostgresServer:
    """A running server; makes databases with an empty memory's schema."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url).set(drivername="postgresql+psycopg")
        self._count = count(1)
        self._free: list[str] = []

    def address(self, database: str) -> str:
        """Return the URL of a database, as ZOMEM_DATABASE_URL takes it."""
        return self.url.set(database=database).render_as_string(hide_password=False)

    @contextmanager
    def database(self) -> Iterator[str]:
        """Lend the URL of a database with an empty memory in it, whose schema must be left as it is."""
        name = self._free.pop() if self._free else self._made()
        yield self.address(name)
        self._wipe(name)
        self._free.append(name)

    @contextmanager
    def empty_database(self, *, options: str = "") -> Iterator[str]:
        """Lend the URL of a new database without any tables."""
        name = self._new(options or "template template0")
        try:
            yield self.address(name)
        finally:
            self.run(f'drop database if exists "{name}" with (force)')

    def close(self) -> None:
        """Remove what was made."""
        for name in self._free:
            self.run(f'drop database if exists "{name}" with (force)')

    def run(self, statement: str) -> None:
        """Run one statement outside of any transaction, on the server's own database."""
        plain = self.url.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(plain, autocommit=True) as connection:
            connection.execute(statement.encode())

    def _new(self, options: str) -> str:
        name = f"zomem_test_{os.getpid()}_{next(self._count)}"
        self.run(f'create database "{name}" {options}')
        return name

    def _made(self) -> str:
        name = self._new("template template0")
        made = Database(self.address(name))
        with tempfile.TemporaryDirectory() as folder:
            nowhere = Path(folder)
            prepare(made, lock=made.lock(nowhere / "lock"), backups=nowhere, now=datetime(2026, 1, 5, tzinfo=UTC))
        made.close()
        return name

    def _wipe(self, name: str) -> None:
        """Empty every table, which is twenty times as fast as another database."""
        plain = self.url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
        with psycopg.connect(plain) as connection:
            connection.execute(_LONELY)
            connection.execute("set session_replication_role = replica")  # no triggers
            for (table,) in connection.execute(_FILLED).fetchall():
                connection.execute(f'delete from "{table}"'.encode())
            connection.execute("insert into items_fts_totals values (true, 0, 0)")
            connection.execute("select setval(oid::regclass, 1, false) from pg_class where relkind = 'S'")


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Lend the server that was named, or start one; raise NoServer where neither is possible."""
    if GIVEN_URL:
        yield from _lent(GIVEN_URL)
        return
    programs, user = _programs(), _user()
    folder = Path(tempfile.mkdtemp(prefix="zomem-postgres-"))
    try:
        if user is not None:
            folder.chmod(0o755)
            shutil.chown(folder, user)
        with _started(programs, folder, user) as url:
            yield from _lent(url)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _lent(url: str) -> Iterator[PostgresServer]:
    server = PostgresServer(url)
    try:
        yield server
    finally:
        server.close()


def _programs() -> Path:
    """Return the folder of the newest PostgreSQL's programs."""
    found = [Path(initdb).parent] if (initdb := shutil.which("initdb")) else []
    for place in _PLACES:
        found += sorted(Path("/").glob(place.lstrip("/")), key=_version, reverse=True)
    for folder in found:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise NoServer(
        "PostgreSQL is not installed (on Debian: apt install postgresql), nor is ZOMEM_TEST_POSTGRES_URL set"
    )


def _version(folder: Path) -> int:
    digits = "".join(letter for letter in folder.parent.name if letter.isdigit())
    return int(digits or 0)


def _user() -> str | None:
    """Return whom to run the server as: ourselves (None), or another user when we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise NoServer("PostgreSQL does not run as root, and there is no user 'postgres' or 'nobody'")


@contextmanager
def _started(programs: Path, folder: Path, user: str | None) -> Iterator[str]:
    data, log = folder / "data", folder / "log"
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "HOME": str(folder)}
    made = subprocess.run(
        [programs / "initdb", "-D", data, "-U", "zomem", "-A", "trust", "-E", "UTF8", "-N", "--locale=C.UTF-8"],
        user=user, env=environment, cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        raise NoServer(f"initdb failed: {made.stderr.strip()[-300:]}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = (*_QUICK, "listen_addresses=127.0.0.1", "unix_socket_directories=", f"port={port}")
    with log.open("wb") as written:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, *(part for setting in settings for part in ("-c", setting))],
            user=user, env=environment, cwd=folder, stdout=written, stderr=written, preexec_fn=_die_with_parent,
        )  # fmt: skip
    url = f"postgresql://zomem@127.0.0.1:{port}/postgres"
    try:
        _wait(server, url, log)
        yield url
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
        server.wait(timeout=60)


def _wait(server: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    for _ in range(600):
        if server.poll() is not None:
            break
        try:
            psycopg.connect(url, connect_timeout=3).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise NoServer(f"the server did not start: {log.read_text(errors='replace')[-500:]}")


def _die_with_parent() -> None:
    """Have the server end when the tests are killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)
