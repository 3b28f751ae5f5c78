"""What the README promises: its commands are those that .ci/run executes, its example runs."""

import re
from pathlib import Path

from tests.commandline import Verdog

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_two_commands_are_marked_for_ci() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    for name in ("demo", "tests"):
        assert re.search(rf"<!-- run: {name} -->\n```sh\n.+\n```\n", README)
        assert f"readme {name}" in script


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


def test_the_example_runs(verdog: Verdog, project: Path) -> None:
    found = re.search(r"```python\n(.+?)```", README, re.DOTALL)
    assert found
    (project / "countdown.py").write_text(found[1])
    result = verdog("run", "countdown.py", "--", "--input.value", "3")
    assert result.code == 0, result.err
    assert "  result  Count(value=3)" in result.out


def test_the_picture_fits_a_terminal() -> None:
    found = re.search(r"```console\n(.+?)```", README, re.DOTALL)
    assert found
    assert all(len(line) <= 80 for line in found[1].splitlines())
