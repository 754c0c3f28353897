"""The native half of the package. Use the names of `foreword` instead."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, final

from .types import DiffAnswer, Prompt as Manifest, SectionEntry

__version__: str

@final
class Prompt:
    """A compiled prompt. It never changes."""

    @property
    def text(self) -> str:
        """System prompt and turn context as one text."""
    @property
    def system(self) -> str:
        """The system prompt: the same bytes all through a session."""
    @property
    def stable(self) -> str:
        """The part of the system prompt that changes only when a file changes."""
    @property
    def turn_context(self) -> str:
        """What belongs in front of the newest user message."""
    @property
    def tokens(self) -> int:
        """Tokens of the whole text."""
    @property
    def digest(self) -> str:
        """Digest of the whole text."""
    @property
    def blueprint(self) -> str:
        """The name of the blueprint."""
    @property
    def warnings(self) -> list[str]:
        """What the caller should know about how the prompt was gathered."""
    @property
    def over_budget(self) -> bool:
        """Whether the prompt exceeds what is available, though everything optional was left out."""
    @property
    def stable_prefix_bytes(self) -> int:
        """Bytes from the start that change only when a file changes."""
    @property
    def manifest(self) -> Manifest:
        """The whole account: sections with their sources, what was left out and why, digests."""
    @property
    def sections(self) -> list[SectionEntry]:
        """The sections of the prompt, in order."""
    def section(self, module: str) -> str | None:
        """The text that a module wrote, or None."""
    def to_anthropic(self) -> dict[str, Any]:
        """`system` blocks with `cache_control`, and `messages`, for the Anthropic Messages API."""
    def to_openai(self) -> dict[str, Any]:
        """`messages` and `prompt_cache_key`, for OpenAI-compatible chat completions."""
    def to_responses(self) -> dict[str, Any]:
        """`instructions`, `input` and `prompt_cache_key`, for the OpenAI Responses API."""
    def to_gemini(self) -> dict[str, Any]:
        """`systemInstruction` and `contents`, for the Gemini API."""
    def diff(self, other: Prompt) -> DiffAnswer:
        """How another prompt differs from this one, and what is billed again."""
    def __len__(self) -> int: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def _repr_html_(self) -> str: ...

@final
class Service:
    def __new__(cls, workspace: str | PathLike[str] | None = None) -> Service: ...
    def build(self, context: object | None, options: Mapping[str, Any]) -> Prompt: ...
    def call(self, method: str, params: Mapping[str, Any]) -> Any: ...

def set_table_file(path: str | PathLike[str]) -> None: ...
def _panic() -> None: ...
