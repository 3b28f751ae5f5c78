"""Reading loads neither libgit2 nor anything else that it does not need."""

import subprocess
import sys
from pathlib import Path

from tests.repo.samples import Script
from verdog_repo.repository import Repository

_READ = """
import sys
from pathlib import Path
from verdog_repo.repository import Repository
from verdog_repo.fsck import check
from verdog_repo.graph import draw_graph
from verdog_repo.history import walk_all
with Repository.open(Path(sys.argv[1]), read_only=True) as repository:
    assert len(repository.history("run")) == 2
    assert repository.resolve("run@work#1").checkpoint.sequence == 1
    assert len(list(draw_graph(walk_all(repository.catalog)))) == 2
    assert len(repository.runs()) == 1
    assert repository.record(repository.tip("run")).sequence == 2
    assert check(repository) == []
print(sorted({"pygit2", "fsspec", "tyro", "rich", "cloudpickle"} & set(sys.modules)))
"""


def test_reading_never_imports_libgit2(tmp_path: Path) -> None:
    with Repository.create(tmp_path) as repository:
        script = Script(repository)
        script.run("run")
        script.commits("run", 2)
        script.release("run")
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
