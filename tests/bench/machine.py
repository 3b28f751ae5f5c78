"""The machine that was measured, in words."""

import os
import platform
import shutil
import time
from pathlib import Path
from statistics import median

import apsw

from tests.bench.pairs import Appender, run


def describe_machine(scratch: Path) -> dict[str, str]:
    """Return what the numbers depend on. `scratch` is where everything is written."""
    appender = Appender(scratch / "probe")
    taken = [appender.append() for _ in range(50)]
    appender.close()
    (scratch / "probe").unlink()
    versions = {
        name: run([name, "version"]).split("\n")[0]
        for name in ("git", "restic")
        if shutil.which(name) is not None
    }
    return {
        "processor": f"{_find_line('/proc/cpuinfo', 'model name')}, {os.cpu_count()} cores",
        "memory": _find_line("/proc/meminfo", "MemTotal"),
        "kernel": f"{platform.system()} {platform.release()}",
        "file system": _find_file_system(scratch),
        "append 10 KB, fdatasync": f"{median(taken) * 1e3:.2f} ms",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        **versions,
    }


def wait_for_quiet(limit: float, patience_s: float) -> None:
    """Wait until the machine's load is below a limit, or patience ends."""
    deadline = time.monotonic() + patience_s
    while os.getloadavg()[0] >= limit and time.monotonic() < deadline:
        time.sleep(2)


def _find_line(path: str, name: str) -> str:
    try:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            if line.startswith(name):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or "unknown"


def _find_file_system(path: Path) -> str:
    """Return the type of the file system that holds a path."""
    best = ("", "unknown")
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return best[1]
    for line in mounts:
        _, place, kind, *_ = line.split()
        if (path == Path(place) or Path(place) in path.parents) and len(place) >= len(best[0]):
            best = (place, kind)
    return best[1]
