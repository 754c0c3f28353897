"""How long `foreword.build` takes from Python, beside the Rust call and Jinja2 rendering the same text.

    PYTHONPATH=python python bench/build.py [--json] [--million] [--cpu]

`--million` also builds a million prompts and reports by how much resident memory grew. `--cpu` measures the processor
time of this thread instead of the time on the wall, for a machine that is busy with something else.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
CONTEXT: dict[str, Any] = json.loads((ROOT / "examples/contexts/integration.json").read_text())


CLOCK = time.thread_time if "--cpu" in sys.argv else time.perf_counter


def micros(work: Callable[[], object], rounds: int = 15, each: int = 200) -> float:
    """The median of the mean times of several rounds, in microseconds."""
    work()
    times: list[float] = []
    for _ in range(rounds):
        started = CLOCK()
        for _ in range(each):
            work()
        times.append((CLOCK() - started) / each * 1e6)
    return statistics.median(times)


STARTING = f"""
from time import {CLOCK.__name__} as clock
begun = clock()
import foreword
imported = clock()
foreword.build({{"task": "hi"}})
print((imported - begun) * 1e3, (clock() - imported) * 1e3)
"""


def starting() -> tuple[float, float]:
    """Milliseconds of the import and of the first build after it, in a new process. The best of several."""
    runs = [subprocess.check_output([sys.executable, "-c", STARTING], text=True).split() for _ in range(15)]
    return min(float(run[0]) for run in runs), min(float(run[1]) for run in runs)


def resident_mb() -> float:
    """Resident memory of this process."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    import_ms, first_ms = starting()
    import foreword

    prompt = foreword.build(CONTEXT, blueprint="guarded")
    figures: dict[str, float] = {
        "import_ms": import_ms,
        "first_build_ms": first_ms,
        "build_us": micros(lambda: foreword.build(CONTEXT, blueprint="guarded")),
        "rust_us": min(foreword.build(CONTEXT, blueprint="guarded").manifest["metadata"]["build_time_ms"] for _ in range(2000)) * 1e3,
        "manifest_us": micros(lambda: foreword.build(CONTEXT, blueprint="guarded").manifest, each=50),
    }
    try:
        import jinja2
    except ImportError:
        pass
    else:
        # The same text: every section of the prompt is a value of the template.
        parts = {f"part{place}": prompt.section(entry["module"]) for place, entry in enumerate(prompt.sections)}
        template = jinja2.Template("\n\n".join("{{ %s }}" % name for name in parts))
        figures["jinja2_us"] = micros(lambda: template.render(parts))
    try:
        from langchain_core.prompts import PromptTemplate
    except ImportError:
        pass
    else:
        parts = {f"part{place}": prompt.section(entry["module"]) for place, entry in enumerate(prompt.sections)}
        chain = PromptTemplate.from_template("\n\n".join("{%s}" % name for name in parts))
        figures["langchain_us"] = micros(lambda: chain.format(**parts))

    long = {"task": "x", "context_content": "A sentence of the context. " * 30_000}
    begun = time.perf_counter()
    for _ in range(40):
        foreword.build(long)
    one = (time.perf_counter() - begun) / 40 * 1e6

    # A call of some milliseconds that gives back little: what is copied in and out holds the lock of Python.
    document = "The parser reads a line and keeps what it found. " * 2_000
    foreword.scan(document)

    def work(calls: int) -> None:
        for _ in range(calls):
            foreword.scan(document)

    def together(kind: Any, count: int = 8) -> float:
        """Seconds until 160 scans are done by so many of a kind at once."""
        workers = [kind(target=work, args=(160 // count,)) for _ in range(count)]
        begun = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return time.perf_counter() - begun

    threads = together(threading.Thread)
    figures["long_build_us"] = one
    # One thread, not the main one: the allocator treats it differently.
    figures["threads_speedup"] = together(threading.Thread, 1) / threads
    # What threads could reach at best, whatever else the machine does.
    figures["threads_of_processes"] = together(multiprocessing.get_context("fork").Process) / threads
    if "--million" in sys.argv:
        small = {"task": "hi"}
        for _ in range(100_000):
            foreword.build(small)
        before = resident_mb()
        for _ in range(900_000):
            foreword.build(small)
        figures["million_builds_grew_mb"] = resident_mb() - before
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:18} {value:10.2f}")


if __name__ == "__main__":
    main()
