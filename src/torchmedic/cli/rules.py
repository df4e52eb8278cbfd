"""`torchmedic rules`: the catalogue."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click

from torchmedic.cli._output import OneLineError
from torchmedic.cli._results import catalogue_json, check_result_path, write_result
from torchmedic.findings import FAMILIES, Symptom
from torchmedic.translation import said


@click.command()
@click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write the catalogue as JSON (- for stdout)."
)
@click.argument("families", metavar="[FAMILY]...", nargs=-1)
def command(json_path: Path | None, families: tuple[str, ...]) -> None:
    """List every cause that torchmedic knows, by family; or those of a FAMILY (`numerics` or NUM)."""
    from torchmedic.rules import entries

    check_result_path(json_path)
    wanted = {_family(name) for name in families} or set(FAMILIES.values())
    rules = [entry for entry in entries() if entry.family in wanted]
    if json_path is not None:
        write_result(json_path, catalogue_json(rules=[asdict(rule) for rule in rules]))
        return
    longest = max(len(rule.name) for rule in rules)
    order = list(FAMILIES.values())
    by_family = sorted(rules, key=lambda rule: (order.index(rule.family), rule.code))
    for family, members in groupby(by_family, key=lambda rule: rule.family):
        click.echo(click.style(family, bold=True))
        for rule in members:
            # That it stops the script tells none of these from the others.
            is_crash = rule.symptoms == (Symptom.CRASH.value,)
            told = said(rule.tell_apart if is_crash else "; ".join(rule.symptoms))
            click.echo(f"  {rule.code}  {rule.name:<{longest}}  {rule.severity:<7}  {told}")
    click.echo(said(f"{len(rules)} rules; a rule's page: torchmedic explain CODE"))


def _family(name: str) -> str:
    """A family by its name or by the letters of its codes."""
    family = FAMILIES.get(name.upper(), name.lower())
    if family not in FAMILIES.values():
        known = ", ".join(f"{family} ({letters})" for letters, family in FAMILIES.items())
        raise OneLineError(f"{name}: no such family; known: {known}")
    return family
