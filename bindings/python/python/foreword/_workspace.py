"""A workspace that is kept warm, with its memories and skills."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ._errors import UsageError
from ._foreword import Prompt, Service
from ._service import ServiceHolder

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .types import (
        BuildOptions,
        LintFinding,
        ListedSkill,
        MemoryAddAnswer,
        MemoryListAnswer,
        MemorySearchAnswer,
        ProposalEntry,
        SkillDecideAnswer,
        SkillProposeAnswer,
        SkillReadAnswer,
    )

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Runs work that releases the interpreter beside the event loop."""
    # Importing asyncio takes longer than importing everything here.
    import asyncio

    return await asyncio.get_running_loop().run_in_executor(None, work)


class Workspace:
    """A directory with an agent's files, kept warm between prompts.

    >>> workspace = Workspace("my-agent")
    >>> prompt = workspace.build(task="plan my week")

    Threads may share it. Close it to free what it keeps; `with` does that.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if not os.path.isdir(self.path):
            raise UsageError(
                f"{self.path}: directory not found",
                ["create a workspace with `foreword init DIR`"],
            )
        self._holder: ServiceHolder | None = ServiceHolder(self.path)
        self.memory = Memory(self)
        self.skills = Skills(self)

    def build(
        self, task: str | None = None, *, agent: str | None = None, **options: Unpack[BuildOptions]
    ) -> Prompt:
        """Compiles the prompt of an agent for a task."""
        return self._service().build(None, {"task": task, "agent": agent, **options})

    async def abuild(
        self, task: str | None = None, *, agent: str | None = None, **options: Unpack[BuildOptions]
    ) -> Prompt:
        """`build` that does not block the event loop."""
        return await in_thread(lambda: self.build(task, agent=agent, **options))

    def lint(self, *, agent: str | None = None, blueprint: str | None = None) -> list[LintFinding]:
        """Checks the files of the workspace."""
        found: list[LintFinding] = self._call("lint", {"agent": agent, "blueprint": blueprint})
        return found

    def close(self) -> None:
        """Frees what the workspace keeps. Further calls fail."""
        self._holder = None

    @property
    def closed(self) -> bool:
        """Whether the workspace was closed."""
        return self._holder is None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Workspace({self.path!r}{', closed' if self.closed else ''})"

    def _service(self) -> Service:
        holder = self._holder
        if holder is None:
            raise UsageError(
                f"the workspace {self.path} is closed", ["open it again with `foreword.Workspace`"]
            )
        return holder.service

    def _call(self, method: str, params: Mapping[str, Any]) -> Any:
        return self._service().call(method, params)


def _opened(workspace: Workspace | str | os.PathLike[str]) -> Workspace:
    return workspace if isinstance(workspace, Workspace) else Workspace(workspace)


class Memory:
    """What the agents of a workspace remember."""

    def __init__(self, workspace: Workspace | str | os.PathLike[str]) -> None:
        self._workspace = _opened(workspace)

    def add(
        self,
        text: str,
        *,
        kind: str = "note",
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
        tainted: bool = False,
        source: str | None = None,
        date: str | None = None,
        importance: float | None = None,
    ) -> MemoryAddAnswer:
        """Stores a memory."""
        params = {
            "text": text,
            "kind": kind,
            "agent": agent,
            "user": user,
            "session": session,
            "tainted": tainted,
            "source": source,
            "date": date,
            "importance": importance,
        }
        answer: MemoryAddAnswer = self._workspace._call("memory_add", params)
        return answer

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        kind: str | None = None,
        all: bool = False,
        min_score: float | None = None,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
    ) -> MemorySearchAnswer:
        """Searches memories, best first."""
        params = {
            "query": query,
            "limit": limit,
            "kind": kind,
            "all": all,
            "min_score": min_score,
            "agent": agent,
            "user": user,
            "session": session,
        }
        answer: MemorySearchAnswer = self._workspace._call("memory_search", params)
        return answer

    async def asearch(self, query: str, *, limit: int = 10, **options: Any) -> MemorySearchAnswer:
        """`search` that does not block the event loop."""
        return await in_thread(lambda: self.search(query, limit=limit, **options))

    def list(
        self,
        *,
        kind: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
        tainted: bool = False,
        limit: int = 20,
        after: str | None = None,
    ) -> MemoryListAnswer:
        """Lists memories, newest first. Pass `next` of the answer as `after` for the next page."""
        params = {
            "kind": kind,
            "agent": agent,
            "user": user,
            "session": session,
            "tainted": tainted,
            "limit": limit,
            "after": after,
        }
        answer: MemoryListAnswer = self._workspace._call("memory_list", params)
        return answer

    def forget(
        self, ids: Sequence[str] | None = None, *, all_of: Mapping[str, object] | None = None
    ) -> int:
        """Deletes memories permanently, and says how many."""
        if isinstance(ids, str):
            ids = [ids]
        params = {"ids": None if ids is None else list(ids), "all_of": all_of}
        forgotten: int = self._workspace._call("memory_forget", params)["forgotten"]
        return forgotten


class Skills:
    """The skills of a workspace: agents propose, people decide."""

    def __init__(self, workspace: Workspace | str | os.PathLike[str]) -> None:
        self._workspace = _opened(workspace)

    def list(self) -> builtins.list[ListedSkill]:
        """Lists skills and their approval."""
        answer: builtins.list[ListedSkill] = self._workspace._call("skill_list", {})
        return answer

    def read(self, name: str) -> SkillReadAnswer:
        """Reads a skill."""
        answer: SkillReadAnswer = self._workspace._call("skill_read", {"name": name})
        return answer

    def propose(
        self,
        content: str,
        *,
        name: str | None = None,
        files: Mapping[str, str] | None = None,
        reason: str | None = None,
        agent: str | None = None,
        taint_ratio: float = 0.0,
        taint_threshold: float | None = None,
        profile: Literal["paranoid", "balanced", "yolo"] | None = None,
    ) -> SkillProposeAnswer:
        """Proposes a new or changed skill, as an agent would."""
        params = {
            "content": content,
            "name": name,
            "files": None if files is None else dict(files),
            "reason": reason,
            "agent": agent,
            "taint_ratio": taint_ratio,
            "taint_threshold": taint_threshold,
            "profile": profile,
        }
        answer: SkillProposeAnswer = self._workspace._call("skill_propose", params)
        return answer

    def proposals(self, id: str | None = None, *, all: bool = False) -> builtins.list[ProposalEntry]:
        """Lists proposals, or shows one with its diff."""
        found: builtins.list[ProposalEntry] = self._workspace._call("skill_proposals", {"id": id, "all": all})
        return found

    def approve(self, id: str) -> SkillDecideAnswer:
        """Commits a proposal. Call it only for a decision that a person made."""
        return self._decide({"id": id, "decision": "approve"})

    def reject(self, id: str, *, reason: str | None = None) -> SkillDecideAnswer:
        """Rejects a proposal."""
        return self._decide({"id": id, "decision": "reject", "reason": reason})

    def _decide(self, params: Mapping[str, Any]) -> SkillDecideAnswer:
        answer: SkillDecideAnswer = self._workspace._call("skill_decide", params)
        return answer
