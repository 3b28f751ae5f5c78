"""The shells: the script that asks for completions in each, and how the answers are written for it.

Every script sends the command line up to the cursor, unparsed, in `_VERDOG_LINE`. The first line of an answer
says how to go on (`space`, `nospace`, `files`, `dirs`), each further line is a candidate.
"""

import os
from typing import ClassVar, NamedTuple

import click
from click.shell_completion import CompletionItem, ShellComplete

COMPLETE_VARIABLE = "_VERDOG_COMPLETE"
_LINE_VARIABLE = "_VERDOG_LINE"
_BREAKS_VARIABLE = "_VERDOG_BREAKS"

_OPEN = ("/", ":", "@")
"""What a candidate ends with if more is to follow."""

_BASH = """\
# verdog completion for bash
%(complete_func)s() {
    local how= line
    COMPREPLY=()
    {
        IFS= read -r how
        while IFS= read -r line; do COMPREPLY+=("$line"); done
    } < <(%(complete_var)s=bash_complete _VERDOG_LINE="${COMP_LINE:0:COMP_POINT}" \\
        _VERDOG_BREAKS="$COMP_WORDBREAKS" "${1/#\\~/$HOME}" 2>/dev/null)
    case $how in
        nospace) compopt -o nospace ;;
        files) compopt -o default ;;
        dirs) compopt -o dirnames ;;
    esac 2>/dev/null
}
complete -o nosort -F %(complete_func)s %(prog_name)s 2>/dev/null ||
    complete -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s
# verdog completion for zsh
%(complete_func)s() {
    local how line
    local -a answer values shown
    answer=("${(@f)$(%(complete_var)s=zsh_complete \\
        _VERDOG_LINE="${(j: :)words[1,CURRENT-1]} $PREFIX" ${~words[1]} 2>/dev/null)}")
    how=$answer[1]
    for line in "${(@)answer[2,-1]}"; do
        values+=("${line%%%%$'\\t'*}")
        shown+=("${line/$'\\t'/  -- }")
    done
    case $how in
        files) _files ;;
        dirs) _files -/ ;;
        nospace) compadd -V verdog -S '' -l -d shown -a values ;;
        space) compadd -V verdog -l -d shown -a values ;;
    esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = """\
# verdog completion for fish
function %(complete_func)s
    set -l answer (env %(complete_var)s=fish_complete _VERDOG_LINE=(commandline -cp | string collect) \\
        %(prog_name)s 2>/dev/null)
    switch "$answer[1]"
        case files
            __fish_complete_path (commandline -ct)
        case dirs
            __fish_complete_directories (commandline -ct)
        case '*'
            for line in $answer[2..-1]
                echo $line
            end
    end
end
complete --command %(prog_name)s --no-files --keep-order --arguments '(%(complete_func)s)'
"""


class Line(NamedTuple):
    """A command line up to the cursor.

    Attributes:
        words: the words before the one at the cursor, without quotes.
        word: the one at the cursor.
        quote: the quote that is open there, if one is.
    """

    words: list[str]
    word: str
    quote: str


def parse_line(text: str) -> Line:
    """Return the words of a command line, as a POSIX shell sees them; the unfinished is taken as it is."""
    words: list[str] = []
    word: list[str] = []
    begun, escaped = False, False
    quote = ""
    for character in text:
        if escaped:
            kept = "\\" if quote and character not in '"\\$`' else ""
            word.append(kept + character)
            escaped = False
        elif character == "\\" and quote != "'":
            escaped = begun = True
        elif character == quote or (not quote and character in "'\""):
            quote = "" if quote else character
            begun = True
        elif quote or not character.isspace():
            word.append(character)
            begun = True
        elif begun:
            words.append("".join(word))
            word.clear()
            begun = False
    return Line(words, "".join(word), quote)


class Shell(ShellComplete):
    """What the three shells have in common: how a line comes in, and how an answer goes out."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words after `verdog`, and the one at the cursor."""
        line = parse_line(os.environ[_LINE_VARIABLE])
        return line.words[1:], line.word

    def complete(self) -> str:
        """Return the answer."""
        return self.format_answer(self.get_completions(*self.get_completion_args()))

    def format_answer(self, items: "list[CompletionItem[str]]") -> str:
        """Return the answer that offers some candidates, or, if there is one of files, all files."""
        for item in items:
            if item.type != "plain":
                return "files" if item.type == "file" else "dirs"
        shown = [item for item in items if item.value.isprintable()]
        more = bool(shown) and all(item.value.endswith(_OPEN) for item in shown)
        return "\n".join(["nospace" if more else "space", *map(self.format_completion, shown)])

    def format_completion(self, item: "CompletionItem[str]") -> str:
        """Return a candidate with its explanation behind a tab."""
        return f"{item.value}\t{item.help}" if item.help else item.value


class Zsh(Shell):
    """Zsh, which quotes candidates by itself."""

    name: ClassVar[str] = "zsh"
    source_template: ClassVar[str] = _ZSH


class Fish(Shell):
    """Fish, which quotes candidates by itself."""

    name: ClassVar[str] = "fish"
    source_template: ClassVar[str] = _FISH


class Bash(Shell):
    """Bash, which replaces the word at the cursor only from the last of its word breaks on."""

    name: ClassVar[str] = "bash"
    source_template: ClassVar[str] = _BASH

    def format_completion(self, item: "CompletionItem[str]") -> str:
        """Return what is to replace the part of the word after its last break, quoted."""
        line = parse_line(os.environ[_LINE_VARIABLE])
        if line.quote:
            return item.value
        breaks = os.environ.get(_BREAKS_VARIABLE, "")
        begin = max((line.word.rfind(each) for each in "@:=" if each in breaks), default=-1)
        if line.word[begin : begin + 1] != "@":  # which readline leaves in the word, though it breaks there
            begin += 1
        kept = item.value[begin:] if item.value.startswith(line.word) else item.value
        return "".join(f"\\{each}" if each in _SPECIAL else each for each in kept)


_SPECIAL = frozenset(" \t\\'\"`$&|;<>()*?[]!{}#")

SHELLS: dict[str, type[Shell]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def make_shell(name: str, cli: click.Command, obj: object) -> Shell:
    """Return the shell of a name for a command line interface. Raises `KeyError` when there is none."""
    return SHELLS[name](cli, {"obj": obj}, "verdog", COMPLETE_VARIABLE)
