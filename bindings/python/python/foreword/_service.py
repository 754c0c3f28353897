"""The native service that the package works with, and what becomes of it after a fork."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from . import _foreword

PACKAGED = Path(__file__).parent / "_packaged"

_table = PACKAGED / "static.bin"
if _table.exists():
    _foreword.set_table_file(_table)


class ServiceHolder:
    """Holds a native service, and makes a new one in a forked process.

    A child that continues with the locks and database handles of its parent could wait forever for a
    thread that it does not have.
    """

    __slots__ = ("__weakref__", "service", "workspace")

    def __init__(self, workspace: str | None) -> None:
        self.workspace = workspace
        self.service = _foreword.Service(workspace)
        _holders.add(self)


_holders: weakref.WeakSet[ServiceHolder] = weakref.WeakSet()
default = ServiceHolder(None)


def _renew() -> None:
    for holder in list(_holders):
        holder.service = _foreword.Service(holder.workspace)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
