"""Hands one plain text to an SMTP server; used only where a server and a receiver were configured."""

import smtplib
import ssl
from collections.abc import Sequence
from email.errors import MessageError
from email.message import EmailMessage
from email.policy import SMTP
from ipaddress import ip_address
from urllib.parse import SplitResult, unquote, urlsplit

from zomem_graph.settings import Settings
from zomem_graph.stores.errors import InvalidInput, ZomemError

__all__ = ["check_mail", "send_text"]

_SECONDS = 30.0
_PORTS = {"smtp": 587, "smtps": 465}


def send_text(settings: Settings, *, subject: str, text: str) -> Sequence[str]:
    """Send a text to ZO_REPORT_TO through ZO_REPORT_SMTP; return the receivers.

    The server is smtp://user:password@host:port (TLS by STARTTLS where it offers that; a password is never sent
    without, except on this machine) or smtps://. Raises InvalidInput when it is not set, ZomemError when it fails.
    """
    at, to = check_mail(settings)
    message = _message(settings.report_from or to[0], to, subject, text)
    try:
        with _connected(at) as server:
            if at.username:
                server.login(unquote(at.username), unquote(at.password or ""))
            server.send_message(message)
    except (OSError, smtplib.SMTPException) as error:
        raise ZomemError(f"The mail server {at.hostname} did not take the report: {error}.") from error
    return to


def check_mail(settings: Settings) -> tuple[SplitResult, list[str]]:
    """Return the server and the receivers that are set. Raises InvalidInput when either is not."""
    to = [each.strip() for each in (settings.report_to or "").split(",") if each.strip()]
    if not settings.report_smtp or not to:
        raise InvalidInput("Set ZO_REPORT_SMTP (smtp://user:password@host:587) and ZO_REPORT_TO to send reports.")
    return _address(settings.report_smtp), to


def _address(text: str) -> SplitResult:
    try:
        at = urlsplit(text)
        _ = at.port
    except ValueError as error:
        raise InvalidInput(f"ZO_REPORT_SMTP cannot be read: {error}.") from error
    if at.scheme not in _PORTS or not at.hostname:
        raise InvalidInput("ZO_REPORT_SMTP must be smtp://host:port or smtps://host:port.")
    return at


def _message(sender: str, to: Sequence[str], subject: str, text: str) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    try:
        message["From"], message["To"], message["Subject"] = sender, ", ".join(to), subject
    except (ValueError, MessageError) as error:
        raise InvalidInput(f"ZO_REPORT_FROM or ZO_REPORT_TO is no address: {error}.") from error
    message.set_content(text.encode("utf-8", "backslashreplace").decode())
    return message


def _connected(at: SplitResult) -> smtplib.SMTP:
    host, port = at.hostname or "", at.port or _PORTS[at.scheme]
    context = ssl.create_default_context()
    if at.scheme == "smtps":
        return smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=context)
    server = smtplib.SMTP(host, port, timeout=_SECONDS)
    server.ehlo()
    if server.has_extn("starttls"):
        server.starttls(context=context)
        server.ehlo()
    elif at.username and not _is_here(host):
        server.close()
        raise InvalidInput(f"{host} offers no TLS, so the password was not sent. Use smtps://, or another server.")
    return server


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
