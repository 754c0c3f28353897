"""The exceptions of Foreword: what is wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

Kind = Literal["usage", "failed", "internal"]


class ForewordError(Exception):
    """The base of all exceptions that Foreword raises."""

    kind: ClassVar[Kind] = "internal"
    message: str
    hints: list[str]

    def __init__(self, message: str, hints: Sequence[str] = ()) -> None:
        super().__init__(message, list(hints))
        self.message = message
        self.hints = list(hints)

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"hint: {hint}" for hint in self.hints)])


class UsageError(ForewordError, ValueError):
    """Invalid parameters, settings or input."""

    kind: ClassVar[Kind] = "usage"


class CheckFailedError(ForewordError):
    """A check that you asked for failed, or an action was refused."""

    kind: ClassVar[Kind] = "failed"


class InternalError(ForewordError, RuntimeError):
    """A bug in Foreword, or a failure of the machine."""

    kind: ClassVar[Kind] = "internal"
