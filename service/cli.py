"""The command `spillclock`. Exit codes: 0 done, 1 failed, 2 bad input or usage."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from deadlines import FactFaults, PackError, assess, read_facts
from deadlines.explaining import explained, rule_as_json
from deadlines.ladder import CHANNELS
from deadlines.rules import ALWAYS
from service.clock import real_now
from service.errors import BadInput, SpillclockError
from service.library import examine_packs, open_rulebook
from service.reading_input import moment, read_json
from service.settings import packs_folder

DONE, FAILED, BAD_INPUT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = _parser().parse_args(arguments)
    try:
        code: int = given.run(given)
        return code
    except BadInput as error:
        return _fail(BAD_INPUT, *(error.faults or [str(error)]))
    except FactFaults as error:
        return _fail(BAD_INPUT, *map(str, error.faults))
    except PackError as error:
        return _fail(FAILED, *map(str, error.mistakes))
    except SpillclockError as error:
        return _fail(FAILED, str(error))
    except BrokenPipeError:
        # Whoever read our output has enough; Python would complain once more while closing it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        return _fail(FAILED, str(error))
    except KeyboardInterrupt:
        return DONE


def _fail(code: int, *lines: str) -> int:
    for line in lines:
        print(f"spillclock: {line}", file=sys.stderr)
    return code


def _later(name: str) -> Callable[[argparse.Namespace], int]:
    """A command that needs the database or the web. It is imported when it is run, so that what needs neither answers in a blink."""

    def run(given: argparse.Namespace) -> int:
        from service import commands

        return commands.run(name, given)

    return run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="spillclock", description="Spill reports in, legal clocks out, and a person told in time.")
    parser.add_argument("--version", action="version", version=f"spillclock {version('spillclock')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Any, told: str, into: Any = commands) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = into.add_parser(name, help=told, description=told)
        made.set_defaults(run=run)
        return made

    command("serve", _later("serve"), "web and worker in one process, by default on an embedded database")
    command("web", _later("web"), "the web half alone, on PostgreSQL")
    command("worker", _later("worker"), "the worker half alone, on PostgreSQL")
    command("migrate", _later("migrate"), "bring the database to the newest tables")
    clocks = command("clocks", _clocks, "print the legal clocks of a fact file as JSON, by the shipped calendars; an array gives an array")
    clocks.add_argument("facts", metavar="FACTS.json", help="a file, or - for standard input")
    clocks.add_argument("--now", metavar="TIME", help="the moment to judge by, RFC 3339 (default: now)")
    rehearse = command("rehearse", _later("rehearse"), "play a fact file through the real escalation: simulated clock, shipped calendars")
    rehearse.add_argument("facts", metavar="FACTS.json", nargs="?", help="a file, or - for standard input")
    rehearse.add_argument("--example", nargs="?", const="", metavar="NAME", help="an example instead; without NAME they are listed")
    rehearse.add_argument("--until", metavar="TIME", help="where to stop (default: when every ladder is at its top)")
    rehearse.add_argument("--json", action="store_true", help="one JSON object a line")
    _rules_commands(commands, command)
    _rq_arguments(command("rq", _rq, "whether amounts reach a federal reportable quantity, with the arithmetic; a name alone is looked up"))
    user = commands.add_parser("user", help="staff accounts").add_subparsers(required=True, metavar="ACTION")
    add = command("add", _later("user_add"), "add a member of staff", user)
    add.add_argument("email", metavar="EMAIL")
    add.add_argument("--role", required=True, metavar="ROLE", help="viewer, officer, manager or administrator")
    add.add_argument("--city", metavar="CITY", help="the one city this person works for (default: every city)")
    command("token", _later("user_token"), "print a new bearer token, and nothing else", user).add_argument("email", metavar="EMAIL")
    _contact_commands(commands, command)
    _rota_commands(commands, command)
    _calendar_commands(commands, command)
    _audit_commands(commands, command)
    _retention_commands(commands, command)
    _export_and_import(command)
    _backup_commands(command)
    _simulate_arguments(command("simulate", _later("simulate"), "fill an empty database with a believable history, and measure it"))
    _import_arguments(command("import", _later("import"), "take in the city's own sheet (CSV) of earlier spills, or try it with --dry-run"))
    _doctor_arguments(
        command("doctor", _later("doctor"), "check settings, database, channels, ladders that reach nobody, calendars that end")
    )
    return parser


def _rules_commands(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    rules = commands.add_parser("rules", help="list, check and explain the rule packs").add_subparsers(required=True, metavar="ACTION")
    command("list", _rules_list, "every duty, one a line", rules)
    check = command("check", _rules_check, "hold every pack to its schema and its cases; name each mistake with file, line and cure", rules)
    check.add_argument("pack", metavar="PACK", nargs="?", help="one pack (default: all)")
    explain = command("explain", _rules_explain, "what one rule says, when it applies, how we read it, whom it wakes", rules)
    explain.add_argument("duty", metavar="DUTY", help="a duty, or a pack for all of its rules")
    explain.add_argument("--json", action="store_true", help="everything about each version, as JSON")


def _doctor_arguments(doctor: argparse.ArgumentParser) -> None:
    doctor.add_argument("--send-test", default="", metavar="ADDRESS", help="send one test message there instead, and print what came of it")
    doctor.add_argument("--by", choices=CHANNELS, help="the channel (default: by the address)")


def _export_and_import(command: Callable[..., argparse.ArgumentParser]) -> None:
    _export_arguments(
        command("export", _later("export"), "write a paper of a spill or its evidence bundle to a file; list them without PAPER")
    )


def _import_arguments(sheet: argparse.ArgumentParser) -> None:
    sheet.add_argument("city", metavar="CITY", help="whose spills they are: chino")
    sheet.add_argument("file", metavar="FILE", help="a CSV, in any encoding and with any delimiter, its headings in the first row")
    sheet.add_argument("--dry-run", action="store_true", help="say what would become of each row, and keep nothing")
    sheet.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="FIELD=HEADING",
        help="which column a field is (default: guessed); FIELD= leaves it out",
    )
    sheet.add_argument("--report", default="", metavar="FILE", help="write what became of each row there, as CSV")
    sheet.add_argument("--all", action="store_true", help="print each row that is odd, not the first 20 alone")
    sheet.add_argument("--alert-past", action="store_true", help="let clocks of the past run and alert as any (default: they are waived)")


def _export_arguments(export: argparse.ArgumentParser) -> None:
    export.add_argument("reference", metavar="REFERENCE", help="the spill: SP-2026-00042")
    export.add_argument("paper", metavar="PAPER", nargs="?", help="the id of a paper, or evidence")
    export.add_argument("--as", dest="form", default="pdf", metavar="FORM", help="pdf; of an export also csv or json (default: pdf)")
    export.add_argument("--language", default="en", metavar="LANGUAGE", help="of a PDF: en or es")
    export.add_argument("--without-reporter", action="store_true", help="the bundle without who reported in confidence")
    export.add_argument("--out", metavar="FILE", help="where to write it, - for standard output (default: a name of its own, here)")


def _contact_commands(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    contact = commands.add_parser("contact", help="who fills the roles of a city").add_subparsers(required=True, metavar="ACTION")
    known = command("list", _later("contact_list"), "every contact, one a line, with its number", contact)
    known.add_argument("--secrets", action="store_true", help="with the secret that each webhook verifies our messages with")
    fill = command("add", _later("contact_add"), "have a person fill a role", contact)
    for name in ("city", "role", "name"):
        fill.add_argument(name, metavar=name.upper())
    fill.add_argument("--email", default="", metavar="EMAIL")
    fill.add_argument("--phone", default="", metavar="PHONE")
    fill.add_argument("--voice", action="store_true", help="the telephone may be called, too")
    fill.add_argument("--webhook", default="", metavar="URL", help="an https address that takes signed messages")
    fill.add_argument(
        "--apprise", default="", metavar="URL", help="a chat room or pager, as Apprise writes it: slack://TokenA/TokenB/TokenC"
    )
    fill.add_argument("--language", default="en", metavar="LANGUAGE", help="en or es (default: en)")
    fill.add_argument("--quiet", default="", metavar="HOURS", help="local hours in which ordinary alerts wait: 22:00-06:00")
    command("remove", _later("contact_remove"), "take a contact out", contact).add_argument("number", metavar="NUMBER", type=int)
    quiet = command("quiet", _later("contact_quiet"), "set the local hours in which ordinary alerts wait", contact)
    quiet.add_argument("number", metavar="NUMBER", type=int)
    quiet.add_argument("hours", metavar="HOURS", help="22:00-06:00, or none")


def _rota_commands(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    rota = commands.add_parser("rota", help="who of a role is on call, and when").add_subparsers(required=True, metavar="ACTION")
    known = command("list", _later("rota_list"), "every rota with its overrides, and who is on call now", rota)
    known.add_argument("city", metavar="CITY", nargs="?", default="", help="of one city (default: of all)")
    enter = command("add", _later("rota_add"), "enter a rota: its members take turns, or a calendar says who is on call", rota)
    for name in ("city", "role", "name"):
        enter.add_argument(name, metavar=name.upper())
    enter.add_argument("--members", default="", metavar="NUMBERS", help="contacts in the order of their turns: 3,5,7")
    enter.add_argument("--starts-on", default="", metavar="DATE", help="the day on which the first turn begins (default: today)")
    enter.add_argument("--turn-days", default=7, type=int, metavar="DAYS", help="how long a turn is (default: 7)")
    enter.add_argument("--handover", default="08:00", metavar="TIME", help="the local time at which turns begin (default: 08:00)")
    enter.add_argument("--ics", default="", metavar="URL", help="the https address of a calendar, read every 15 minutes")
    other = command("override", _later("rota_override"), "have somebody be on call for a time whatever the turns say", rota)
    other.add_argument("number", metavar="NUMBER", type=int, help="the rota")
    other.add_argument("contact", metavar="CONTACT", type=int)
    other.add_argument("since", metavar="FROM", help="RFC 3339, or local time of the city: 2026-12-24T08:00")
    other.add_argument("until", metavar="UNTIL")
    other.add_argument("--holiday", action="store_true", help="the contact is away then; whoever comes next in turn stands in")
    other.add_argument("--reason", default="", metavar="TEXT")
    remove = command("remove", _later("rota_remove"), "end a rota; with --override take one override or holiday of it out", rota)
    remove.add_argument("number", metavar="NUMBER", type=int)
    remove.add_argument("--override", type=int, metavar="NUMBER")


def _calendar_commands(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    actions = commands.add_parser("calendar", help="the days on which a city's offices are closed").add_subparsers(
        required=True, metavar="ACTION"
    )
    known = command("list", _later("calendar_list"), "every closed day of a city, one a line, and who says so", actions)
    enter = command("add", _later("calendar_add"), "enter a day as closed; running clocks move at once, and are printed", actions)
    remove = command("remove", _later("calendar_remove"), "take an entry out; running clocks move at once, and are printed", actions)
    for made in (known, enter, remove):
        made.add_argument("city", metavar="CITY")
    for made in (enter, remove):
        made.add_argument("date", metavar="DATE", help="2026-11-27")
    enter.add_argument("name", metavar="NAME", help="what the day is called")
    enter.add_argument("--source", required=True, metavar="TEXT", help="the ordinance, resolution or notice that says so")
    enter.add_argument("--open", action="store_true", help="the offices are open on this day, which the shipped calendar has as closed")
    remove.add_argument("--reason", required=True, metavar="TEXT", help="why it is taken out; stays on record")


def _audit_commands(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    actions = commands.add_parser("audit", help="whether the record is whole, and what others check it by").add_subparsers(
        required=True, metavar="ACTION"
    )
    verify = command("verify", _later("audit_verify"), "check every chain of the record; name the first record not as it was", actions)
    verify.add_argument("--checkpoint", metavar="FILE", help="hold it against checkpoints kept elsewhere: their file, or a saved mail")
    verify.add_argument("--key", metavar="HEX", help="the key that they have to be signed by (default: that of this deployment)")
    command("key", _later("audit_key"), "print the public key that checkpoints are checked by, for others to keep", actions)
    command("checkpoint", _later("audit_checkpoint"), "make a checkpoint now, and print it; it also goes where the settings say", actions)
    export = command("export", _later("audit_export"), "write the record for others to check, one JSON object a line", actions)
    export.add_argument("--spill", metavar="REFERENCE", help="what is said of one spill; of the rest the digests alone")
    export.add_argument("--sealed", action="store_true", help="with what is sealed: names, addresses, free words")


def _backup_commands(command: Callable[..., argparse.ArgumentParser]) -> None:
    backup = command("backup", _later("backup"), "copy the database and the files into a new folder, while the service goes on")
    backup.add_argument("target", metavar="TARGET", help="a folder that is not there yet: backups/2026-12-01")
    restore = command("restore", _later("restore"), "put a backup back, checked whole, with the service stopped; then verify the record")
    restore.add_argument("source", metavar="SOURCE", help="a folder that backup made")
    restore.add_argument("--replace", action="store_true", help="also where a database is already; that one is kept under another name")
    restore.add_argument(
        "--messages",
        choices=("again", "leave"),
        help="what becomes of messages that may have gone out since: sent again and marked, or left",
    )
    restore.add_argument("--stopped-at", metavar="TIME", help="with --messages leave: when the service stopped, RFC 3339")


def _retention_commands(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    actions = commands.add_parser("retention", help="how long records are kept, legal holds, and destroying what is past its time")
    into = actions.add_subparsers(required=True, metavar="ACTION")
    known = command("list", _later("retention_list"), "records past their time, soon past it, or under a legal hold, one a line", into)
    known.add_argument("city", metavar="CITY", nargs="?", default="", help="of one city (default: of all)")
    hold = command("hold", _later("retention_hold"), "keep the record of a spill whatever its time says", into)
    release = command("release", _later("retention_release"), "lift a legal hold", into)
    destroy = command("destroy", _later("retention_destroy"), "say what would be destroyed of a record; with --yes destroy it", into)
    for made in (hold, release, destroy):
        made.add_argument("reference", metavar="REFERENCE", help="the spill: SP-2026-00042")
    release.add_argument("number", metavar="NUMBER", type=int, help="the hold")
    for made in (hold, release):
        made.add_argument("reason", metavar="REASON", help="why, and who said so; stays on record")
    destroy.add_argument("--reason", default="", metavar="TEXT", help="who decided it, and by which schedule or resolution")
    destroy.add_argument("--yes", action="store_true", help="destroy it; it cannot be brought back")


def _simulate_arguments(simulate: argparse.ArgumentParser) -> None:
    simulate.add_argument("--cities", type=int, default=482, metavar="NUMBER", help="as many reports as so many cities get (default: 482)")
    simulate.add_argument("--years", type=float, default=5, metavar="YEARS", help="(default: 5)")
    simulate.add_argument("--seed", type=int, default=1, metavar="NUMBER", help="another history of the same kind (default: 1)")


def _rq_arguments(quantity: argparse.ArgumentParser) -> None:
    quantity.add_argument("substance", metavar="NAME-OR-CAS")
    quantity.add_argument("quantity", metavar="QUANTITY", nargs="?", help="80, or a range, 60-90")
    quantity.add_argument("unit", metavar="UNIT", nargs="?", help="gal, L, m3, ft3, bbl, lb, oz, ton, kg, g, mg or t")
    quantity.add_argument("--fraction", metavar="SHARE", help="its share by weight in what was spilled, 0.125 or 12.5%%")
    quantity.add_argument("--density", metavar="LB/GAL", help="pounds a gallon, where the table lacks it or the data sheet says better")
    quantity.add_argument("--holds", metavar="NAME[=SHARE]", action="append", help="a constituent, where it is a mixture; repeat for each")
    quantity.add_argument("--and", dest="more", metavar=("NAME", "QUANTITY", "UNIT"), nargs=3, action="append", help="one more amount")
    quantity.add_argument("--json", action="store_true", help="the answer as JSON")


def _clocks(given: argparse.Namespace) -> int:
    now = moment("--now", given.now) or real_now()
    rulebook = open_rulebook(packs_folder())
    objects = read_json(given.facts)
    many = objects if isinstance(objects, list) else [objects]
    lists, faults, gaps = [], [], []
    for number, given_facts in enumerate(many):
        try:
            facts = read_facts(given_facts, rulebook.zones, frozenset(rulebook.recipients))
        except FactFaults as error:
            where = f"[{number}] " if isinstance(objects, list) else ""
            faults += [f"{where}{fault}" for fault in error.faults]
            continue
        clocks = assess(facts, rulebook, now).clocks
        lists.append([clock.as_json() for clock in clocks])
        gaps += [f"{clock.duty}: cannot be computed: {clock.uncomputable}" for clock in clocks if clock.uncomputable]
    if faults:
        return _fail(BAD_INPUT, *faults)
    print(json.dumps(lists if isinstance(objects, list) else lists[0], indent=1, ensure_ascii=False))
    return _fail(FAILED, *gaps) if gaps else DONE


def _rules_list(_: argparse.Namespace) -> int:
    for pack in open_rulebook(packs_folder()).packs.values():
        for rule in pack.rules:
            days = "" if rule.in_force is ALWAYS else f"  [in force {rule.in_force}]"
            unread = "" if rule.verified else "  [not yet checked against its source]"
            print(f"{rule.duty}\t{rule.limit.text}\t{rule.title}{days}{unread}")
    return DONE


def _rules_check(given: argparse.Namespace) -> int:
    folder = packs_folder()
    rulebook = open_rulebook(folder)
    if given.pack is not None and given.pack not in rulebook.packs:
        known = ", ".join(rulebook.packs)
        raise BadInput("no such pack", [f"PACK: {given.pack!r} is not a pack; right would be: one of {known}"])
    mistakes = examine_packs(folder, given.pack)
    if mistakes:
        return _fail(FAILED, *map(str, mistakes))
    packs = [pack for pack in rulebook.packs.values() if given.pack in (None, pack.id)]
    rules = sum(len(pack.rules) for pack in packs)
    counted = f"{len(packs)} {'pack' if len(packs) == 1 else 'packs'}, {rules} rules"
    print(f"{counted}, no mistake; every rule is reached by a case, and every change to one is noticed")
    states = {pack.covers.word for pack in rulebook.packs.values() if pack.covers.by == "state"}
    for pack in packs:
        if pack.state is not None and pack.state not in states:
            print(f"note: no pack for the state {pack.state}, so its duties are not shown over {pack.id}")
    print(f"version {rulebook.version}")
    return DONE


def _rules_explain(given: argparse.Namespace) -> int:
    rulebook = open_rulebook(packs_folder())
    whole = rulebook.packs.get(given.duty)
    try:
        pack, versions = (whole, whole.rules) if whole else rulebook.rules(given.duty)
    except KeyError:
        right = "one of `spillclock rules list`, or a pack for all of its rules"
        raise BadInput("no such duty", [f"DUTY: {given.duty!r} is not a duty; right would be: {right}"]) from None
    if given.json:
        print(json.dumps([rule_as_json(pack, rule, rulebook) for rule in versions], indent=1, ensure_ascii=False))
        return DONE
    for rule in versions:
        print("\n".join([f"{rule.duty}: {rule.title}", *(f"  {line}" for line in explained(pack, rule, rulebook))]))
    return DONE


def _rq(given: argparse.Namespace) -> int:
    from service import quantity_command

    code, lines = quantity_command.run(given)
    print("\n".join(lines))
    return code
