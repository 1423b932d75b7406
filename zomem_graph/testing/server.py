"""A real OpenAI-compatible server on loopback that follows a script and records what it was sent."""

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self

from zomem_graph.testing.embedder import SmallEmbedder

__all__ = ["Answer", "Garbage", "Hang", "Received", "Refusal", "ScriptedOpenAIServer", "Step", "rate_limited"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Say a text (or send a value as JSON text), call tools, or both, after `seconds`."""

    text: str | Mapping[str, Any] | Sequence[Any] = ""
    tool_calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    seconds: float = 0.0
    model: str | None = None

    @property
    def content(self) -> str:
        """The text as it is sent."""
        return self.text if isinstance(self.text, str) else json.dumps(self.text, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Answer with an HTTP error in OpenAI's form."""

    status: int
    message: str = "refused by the script"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Garbage:
    """Answer 200 with a body that is no JSON."""

    body: str = "<html>no JSON here</html>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hang:
    """Say nothing for `seconds` or until the server is closed, then hang up."""

    seconds: float = 60.0


Step = Answer | Refusal | Garbage | Hang
# A text is short for an Answer; a function gets the request's body.
Scripted = str | Step | Callable[[dict[str, Any]], "str | Step"]


def rate_limited(retry_after: int = 1) -> Refusal:
    """Return the refusal of a provider whose limit is reached."""
    return Refusal(status=429, message="Rate limit reached", headers={"retry-after": str(retry_after)})


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came in; header names are in lower case."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]


class ScriptedOpenAIServer:
    """Serves /v1/chat/completions (also streaming) and /v1/embeddings while the `with` block runs.

    `script` is followed by chat requests: one step again and again, or steps one after the other; at
    their end every request gets a 500. `embedding_script` comes before the vectors of `embedder`.
    """

    def __init__(
        self,
        script: Scripted | Sequence[Scripted] = (),
        *,
        embedding_script: Sequence[Scripted] = (),
        embedder: SmallEmbedder | None = None,
    ) -> None:
        """Prepare a server on a free port of 127.0.0.1; it serves from `with` on."""
        self.requests: list[Received] = []
        self.closing = Event()
        self.embedder = embedder or SmallEmbedder()
        self._lock = Lock()
        self._chat_steps = _steps(script)
        self._embedding_steps = iter(embedding_script)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.scripted = self
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        """What goes into OPENAI_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def received(self, path: str) -> list[Received]:
        """Return the requests whose path ends so, for example "/embeddings"."""
        return [request for request in self.requests if request.path.endswith(path)]

    def next_step(self, request: Received) -> Step | None:
        """Record a request and return its step, None for embeddings beyond their script."""
        with self._lock:
            self.requests.append(request)
            steps = self._embedding_steps if request.path.endswith("/embeddings") else self._chat_steps
            step = next(steps, None)
        if callable(step):
            step = step(request.body)
        return Answer(text=step) if isinstance(step, str) else step

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # Fifty clients may knock at once.
    request_queue_size = 128
    scripted: ScriptedOpenAIServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Received(self.path, body, headers)
        step = self.server.scripted.next_step(request)
        if self.path.endswith("/embeddings"):
            self._play(step or Answer(), self._vectors(body))
        elif self.path.endswith("/chat/completions"):
            self._play(step or Refusal(status=500, message="the script is at its end"), self._chat(body))
        else:
            self._play(Refusal(status=404, message=f"nothing is served at {self.path}"), self._chat(body))

    def _play(self, step: Step, answered: Callable[[Answer], None]) -> None:
        try:
            if isinstance(step, Answer):
                self.server.scripted.closing.wait(step.seconds)
                answered(step)
            elif isinstance(step, Refusal):
                error = {"message": step.message, "type": "scripted", "code": str(step.status)}
                self._send({"error": error}, status=step.status, headers=step.headers)
            elif isinstance(step, Garbage):
                self._send(step.body)
            else:
                self.server.scripted.closing.wait(step.seconds)
                self.close_connection = True
        except (BrokenPipeError, ConnectionResetError):
            # Whoever asked has gone: that is what some tests are about.
            self.close_connection = True

    def _vectors(self, body: dict[str, Any]) -> Callable[[Answer], None]:
        def send(_: Answer) -> None:
            self._send(_embeddings(body, self.server.scripted.embedder))

        return send

    def _chat(self, body: dict[str, Any]) -> Callable[[Answer], None]:
        def send(answer: Answer) -> None:
            if body.get("stream"):
                self._stream(_chunks(answer, body))
            else:
                self._send(_completion(answer, body))

        return send

    def _send(self, content: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        data = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, chunks: Iterator[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for chunk in chain(map(json.dumps, chunks), ["[DONE]"]):
            self.wfile.write(f"data: {chunk}\n\n".encode())
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing: a test's output is its own."""


def _steps(script: Scripted | Sequence[Scripted]) -> Iterator[Scripted]:
    if isinstance(script, Sequence) and not isinstance(script, str):
        return iter(script)
    return repeat(script)


def _head(answer: Answer, body: dict[str, Any], kind: str) -> dict[str, Any]:
    model = answer.model or body.get("model", "scripted")
    return {"id": "scripted-1", "object": kind, "created": 0, "model": model}


def _usage(answer: Answer, body: dict[str, Any]) -> dict[str, int]:
    asked = len(json.dumps(body.get("messages", []))) // 4
    said = max(1, len(answer.content) // 4)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _tool_calls(answer: Answer) -> list[dict[str, Any]]:
    return [
        {
            "index": place,
            "id": f"call-{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(answer.tool_calls)
    ]


def _completion(answer: Answer, body: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.content}
    if calls := _tool_calls(answer):
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
    return _head(answer, body, "chat.completion") | {"choices": [choice], "usage": _usage(answer, body)}


def _chunks(answer: Answer, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    head = _head(answer, body, "chat.completion.chunk")

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    words = answer.content.split(" ")
    for place, word in enumerate(words):
        yield chunk({"content": word if place == 0 else f" {word}"})
    calls = _tool_calls(answer)
    if calls:
        yield chunk({"tool_calls": calls})
    yield chunk({}, "tool_calls" if calls else "stop")
    if (body.get("stream_options") or {}).get("include_usage"):
        yield head | {"choices": [], "usage": _usage(answer, body)}


def _embeddings(body: dict[str, Any], embedder: SmallEmbedder) -> dict[str, Any]:
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    rows = embedder.embed_documents([str(text) for text in texts])
    as_bytes = body.get("encoding_format") == "base64"
    entries = [
        {
            "object": "embedding",
            "index": place,
            "embedding": base64.b64encode(row.tobytes()).decode() if as_bytes else row.tolist(),
        }
        for place, row in enumerate(rows)
    ]
    used = sum(len(str(text)) for text in texts) // 4
    usage = {"prompt_tokens": used, "total_tokens": used}
    return {"object": "list", "data": entries, "model": body.get("model"), "usage": usage}
