"""`verdog completion`: the script that completes command lines."""

import click

from verdog_cli.group import Command, verdog


@click.command(
    "completion",
    cls=Command,
    epilog="""
    source <(verdog completion bash)     # a line for ~/.bashrc
    source <(verdog completion zsh)      # a line for ~/.zshrc, after compinit
    verdog completion fish | source      # a line for ~/.config/fish/config.fish
    """,
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]), metavar="bash|zsh|fish")
def command(shell: str) -> None:
    """Print the script that completes command lines in a shell.

    It completes commands, options, runs, labels and tags, RUN@ by number and node, and the paths in a
    checkpoint after REV: and after --. Where there is nothing to say, or something is wrong, it says nothing.
    """
    from verdog_cli.context import Context
    from verdog_cli.shells import make_shell

    click.echo(make_shell(shell, verdog, Context()).source(), nl=False)
