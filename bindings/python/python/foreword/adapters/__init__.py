"""Prompts in the frameworks people already use.

Each module is small, imports its framework only when it is used, and puts the stable part of a prompt where the
provider caches it and the turn context in front of the newest message of the user. `foreword.select` picks from
any framework's own tool objects, and `guard` judges what a tool brought before a model reads it; each module says
how to put it into its framework.
"""

from __future__ import annotations

from .._tool_results import ToolResultBlocked, guard, guard_value

__all__ = ["ToolResultBlocked", "guard", "guard_value"]
