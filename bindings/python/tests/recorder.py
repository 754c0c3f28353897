"""A model on this machine that records what arrives and always answers "ok"."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import foreword

MAX_REQUEST_BYTES = 4 << 20


class Recorder:
    """What was asked, in order, and where."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        # A tool that the model calls once, before it answers.
        self.tool: str | None = None
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers.get("content-length", "0"))
                assert size <= MAX_REQUEST_BYTES
                body = json.loads(self.rfile.read(size))
                recorder.requests.append((self.path, body))
                streams = bool(body.get("stream"))
                answer = (streamed(body) if streams else json.dumps(recorder.answer(self.path, body))).encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if streams else "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _, body in self.requests]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path.endswith("/messages"):
            content: dict[str, Any] = {"type": "text", "text": "ok"}
            if self.tool is not None and "tool_result" not in str(body["messages"]):
                content = {"type": "tool_use", "id": "t1", "name": self.tool, "input": {}}
            return {
                "id": "m", "type": "message", "role": "assistant", "model": body["model"],
                "content": [content], "stop_sequence": None,
                "stop_reason": "tool_use" if content["type"] == "tool_use" else "end_turn",
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }  # fmt: skip
        if "generateContent" in path:
            content = {"role": "model", "parts": [{"text": "ok"}]}
            return {"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": {}}
        if path.endswith("/responses"):
            text = {"type": "output_text", "text": "ok", "annotations": []}
            message = {"type": "message", "id": "x", "status": "completed", "role": "assistant", "content": [text]}
            return {
                "id": "r", "object": "response", "created_at": 0, "status": "completed", "model": body["model"],
                "output": [message], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
                "usage": {
                    "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                    "output_tokens_details": {"reasoning_tokens": 0},
                },
            }  # fmt: skip
        return {
            "id": "c", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip


def streamed(body: dict[str, Any]) -> str:
    """The answer of Anthropic's Messages API as events."""
    message = {
        "id": "m", "type": "message", "role": "assistant", "model": body["model"], "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def built(task: str) -> foreword.Prompt:
    """A prompt with a stable part, a session part and a turn context."""
    return foreword.build(
        {
            "task": task,
            "identity_files": {"agent": "You are Pickle."},
            "memories": ["Ada likes tea"],
            "now": "2026-02-26T14:30:00Z",
            "git": {"branch": "main", "summary": "clean"},
        }
    )


def check_arrival(body: dict[str, Any], prompt: foreword.Prompt, **expected: object) -> None:
    """The prompt is in a request byte for byte, cacheable, with the turn context in its place.

    `expected` are the fields of the answer that differ from those of a request that marks what to cache.
    """
    found = foreword.check_request(body, prompt)["prompt"]
    wanted = {
        "is_right": True,
        "is_present": True,
        "is_marked_at_boundary": True,
        "turn_context": "before-user-message",
        **expected,
    }
    # Providers that cache by themselves have no marks.
    assert found == {name: value for name, value in wanted.items() if value is not None}
