"""`torchmedic rules`: the catalogue."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import click

from torchmedic.cli._results import catalogue_json, check_result_path, rule_json, write_result
from torchmedic.findings import FAMILIES


@click.command()
@click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write the catalogue as JSON (- for stdout)."
)
def command(json_path: Path | None) -> None:
    """List every cause that torchmedic knows, by family."""
    from torchmedic.rules import catalogue

    check_result_path(json_path)
    rules = catalogue()
    if json_path is not None:
        write_result(json_path, catalogue_json(rules=[rule_json(rule) for rule in rules]))
        return
    longest = max(len(rule.name) for rule in rules)
    order = list(FAMILIES.values())
    by_family = sorted(rules, key=lambda rule: (order.index(rule.family), rule.code))
    for family, members in groupby(by_family, key=lambda rule: rule.family):
        click.echo(click.style(family, bold=True))
        for rule in members:
            symptoms = "; ".join(symptom.value for symptom in rule.symptoms)
            click.echo(f"  {rule.code}  {rule.name:<{longest}}  {rule.severity:<7}  {symptoms}")
    click.echo(f"{len(rules)} rules; a rule's page: torchmedic explain CODE")
