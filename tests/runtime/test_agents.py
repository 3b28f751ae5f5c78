import dataclasses
import subprocess
import sys
from typing import Any

import pytest

from verdog_runtime.agents import AgentInvocationError, AgentSessionCapabilities, ForkingAgentInvoker
from verdog_runtime.agents.claude import ClaudeInvoker
from verdog_runtime.agents.codex import CodexInvoker

CODEX = """
--add-dir --approve-for-me --cd --dangerously-bypass-approvals-and-sandbox --ephemeral --json --model
--output-last-message --sandbox --skip-git-repo-check -C -m -o -s fork resume
"""
CLAUDE = """
--add-dir --allow-dangerously-skip-permissions --allowed-tools --allowedTools --continue
--dangerously-skip-permissions --effort --fork-session --model --no-session-persistence --output-format
--permission-mode --print --resume --session-id --verbose --worktree -c -p -r -w
"""
RESERVED = [
    (kind, option)
    for kind, text in ((CodexInvoker, CODEX), (ClaudeInvoker, CLAUDE))
    for option in text.split()
]
BOTH = pytest.mark.parametrize("kind", [CodexInvoker, ClaudeInvoker])


@BOTH
def test_an_invoker_has_the_promised_fields(kind: Any) -> None:
    name = kind.__name__.removesuffix("Invoker").lower()
    assert dataclasses.asdict(kind()) == {
        "executable": name,
        "model": None,
        "reasoning_effort": None,
        "extra_args": (),
    }
    assert kind.session_provider == name
    assert kind.session_capabilities == AgentSessionCapabilities(fork_latest=True)
    made: ForkingAgentInvoker = kind(model="m", reasoning_effort="high", extra_args=("--search",))
    assert made.session_provider == name
    with pytest.raises(TypeError):
        kind("codex")


@BOTH
@pytest.mark.parametrize("extra", [["--search"], "--search", None, (1,), ("a", None)])
def test_extra_arguments_are_a_tuple_of_texts(kind: Any, extra: Any) -> None:
    with pytest.raises(TypeError, match="extra_args"):
        kind(extra_args=extra)


@pytest.mark.parametrize(("kind", "option"), RESERVED)
def test_reserved_options_are_refused(kind: Any, option: str) -> None:
    for argument in (option, f"{option}=x"):
        with pytest.raises(ValueError, match="extra_args"):
            kind(extra_args=("--fine", argument))
    if len(option) == 2:
        with pytest.raises(ValueError, match="extra_args"):
            kind(extra_args=(f"{option}value",))


@BOTH
def test_the_end_of_options_is_refused(kind: Any) -> None:
    for argument in ("--", "--=x"):
        with pytest.raises(ValueError, match="extra_args"):
            kind(extra_args=(argument,))


@pytest.mark.parametrize(
    ("kind", "extra"),
    [
        (CodexInvoker, ("-c", "model=x", "--profile", "p", "--oss", "-p", "--models", "", "-")),
        (ClaudeInvoker, ("--tools", "Read,Glob", "-d", "--models", "--print-width", "x=--print")),
    ],
)
def test_other_arguments_are_kept(kind: Any, extra: tuple[str, ...]) -> None:
    assert kind(extra_args=extra).extra_args == extra


@BOTH
def test_asking_is_refused_with_one_sentence(kind: Any) -> None:
    with pytest.raises(AgentInvocationError, match="does not execute agents yet"):
        kind()(None)


def test_importing_the_package_does_not_load_the_invokers() -> None:
    code = (
        "import sys, verdog_runtime.agents\n"
        "assert not [name for name in sys.modules if name.startswith('verdog_runtime.agents.')]\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True)
