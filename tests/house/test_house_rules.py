"""The house rules that a machine can keep: one list, each rule with a name, a reason and examples that it must catch.

A line that has to break a rule says so: `# house-skip: <rule>` on that line (on the first line, where the finding is the file itself).
Every rule shows here that it bites: its `bad` examples must be found, its `good` ones must pass.
"""

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("service", "deadlines", "notifiers")
LONGEST_FUNCTION = 50
LONGEST_FILE = 450

Finding = tuple[int, str]  # line, what is wrong there
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One file of the project: its path from the root, and its text."""

    path: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def top(self) -> str:
        return PurePosixPath(self.path).parts[0]

    @cached_property
    def is_python(self) -> bool:
        return self.path.endswith(".py")

    @cached_property
    def is_ours(self) -> bool:
        """Python of the three packages."""
        return self.is_python and self.top in PACKAGES

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def names(self) -> Iterator[tuple[ast.expr, str]]:
        """Every name that is read, with what it stands for after the file's imports: `dt.now` -> `datetime.datetime.now`."""
        stands_for: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    stands_for[alias.asname or first] = alias.name if alias.asname else first
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    stands_for[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name | ast.Attribute):
                first, _, rest = ast.unparse(node).partition(".")
                if first in stands_for:
                    yield node, f"{stands_for[first]}.{rest}" if rest else stands_for[first]


@dataclass(frozen=True)
class Rule:
    name: str
    covers: Callable[[Source], bool]
    check: Callable[[Source], Iterator[Finding]]
    bad: list[tuple[str, str]]  # path, text
    good: list[tuple[str, str]] = field(default_factory=list)

    def findings(self, source: Source) -> list[str]:
        """What this rule finds, as `file:line: message [rule]`, without what a line excuses."""
        if not self.covers(source):
            return []
        return [f"{source.path}:{line}: {what} [{self.name}]" for line, what in self.check(source) if not self._excused(source, line)]

    def _excused(self, source: Source, line: int) -> bool:
        text = source.lines[line - 1] if line <= len(source.lines) else ""
        return re.search(rf"house-skip: {re.escape(self.name)}(?![\w-])", text) is not None


EMPTY_NAMES = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "misc", "base", "core"}


def empty_names(source: Source) -> Iterator[Finding]:
    for part in PurePosixPath(source.path).with_suffix("").parts:
        if empty := EMPTY_NAMES.intersection(part.lower().split("_")):
            yield 1, f"'{part}' promises nothing, so everything fits ({empty.pop()}): name the file for its step on the way"


def long_functions(source: Source) -> Iterator[Finding]:
    for node in source.functions():
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        if ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            length -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
        if length > LONGEST_FUNCTION:
            yield node.lineno, f"{node.name}() has {length} lines without its docstring, more than {LONGEST_FUNCTION}"


def long_files(source: Source) -> Iterator[Finding]:
    if len(source.lines) > LONGEST_FILE:
        yield 1, f"{len(source.lines)} lines, more than {LONGEST_FILE}: split it where two halves change for different reasons"


CLOCK_READINGS = {
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
    "time.time", "time.time_ns", "time.localtime", "time.gmtime",
    "sqlalchemy.func.now", "sqlmodel.func.now",
}  # fmt: skip
STOPWATCHES = {"time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns"}


def clock_readings(source: Source) -> Iterator[Finding]:
    calls = {id(node.func): node for node in ast.walk(source.tree) if isinstance(node, ast.Call)}
    for node, name in source.names():
        if name in CLOCK_READINGS:
            yield node.lineno, f"{name} reads the clock; only service/clock.py does, everywhere else time is an argument"
        elif name in STOPWATCHES and source.path not in ("service/worker.py", "service/measures.py") and source.top != "notifiers":
            yield node.lineno, f"{name} is for service/measures.py, service/worker.py and notifiers"
        elif name == "datetime.datetime.fromtimestamp":
            call = calls.get(id(node))
            if call is None or (len(call.args) < 2 and not any(word.arg == "tz" for word in call.keywords)):
                yield node.lineno, f"{name} without tz gives the machine's own time"


def commits(source: Source) -> Iterator[Finding]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "commit":
            yield node.lineno, "only service/transaction.py commits: one request, one climb, one command is one transaction"


def missing_docstrings(source: Source) -> Iterator[Finding]:
    for node in source.tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_") and ast.get_docstring(node) is None:
            yield node.lineno, f"{node.name} has no docstring: say what, in which units, what it raises"


def _is_any_error(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Tuple):
        return any(map(_is_any_error, node.elts))
    return isinstance(node, ast.Name) and node.id in ("Exception", "BaseException")


def _does_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass | ast.Continue) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def swallowed_errors(source: Source) -> Iterator[Finding]:
    suppressors = {id(node) for node, name in source.names() if name == "contextlib.suppress"}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield node.lineno, "a bare except catches even the stop of the program: name the error"
        elif isinstance(node, ast.ExceptHandler) and _is_any_error(node.type) and all(map(_does_nothing, node.body)):
            yield node.lineno, "every error is swallowed here: name the error, or do something about it"
        elif isinstance(node, ast.Call) and id(node.func) in suppressors and any(map(_is_any_error, node.args)):
            yield node.lineno, "every error is swallowed here: name the error"


def prints(source: Source) -> Iterator[Finding]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield node.lineno, "only the commands print"


MACHINE_PATH = re.compile(r"(?<![\w.~*-])(?:/(?:work|root)/|/home/\w)")
HOSTS = [
    name.replace(" ", ".")  # written without dots, or this file would break its own rule
    for name in (
        "pypi org", "pythonhosted org", "npmjs org", "npmjs com", "yarnpkg com", "deb debian org", "security debian org",
        "archive ubuntu com", "anaconda org", "rubygems org", "crates io", "proxy golang org", "repo1 maven org",
        "repo maven apache org", "packagist org", "nuget org",
    )
]  # fmt: skip
REGISTRY = re.compile(rf"\b(?:{'|'.join(map(re.escape, HOSTS))})\b", re.IGNORECASE)


def matches(pattern: re.Pattern[str], what: str) -> Callable[[Source], Iterator[Finding]]:
    def check(source: Source) -> Iterator[Finding]:
        for number, line in enumerate(source.lines, 1):
            if found := pattern.search(line):
                yield number, what.format(found.group())

    return check


def short_test_names(source: Source) -> Iterator[Finding]:
    for node in source.functions():
        if node.name.startswith("test_") and len([word for word in node.name.split("_")[1:] if word]) < 4:
            yield node.lineno, f"{node.name} is not a sentence: at least four words that say what holds"


def every_file(source: Source) -> bool:
    return True


def function_of(lines: int) -> str:
    return "def f():\n" + "    x = 1\n" * (lines - 1)


RULES = [
    Rule(
        "empty-name",
        covers=lambda source: source.is_python,
        check=empty_names,
        bad=[("service/utils.py", ""), ("service/core/spills.py", ""), ("notifiers/mail_helpers.py", ""), ("tests/common.py", "")],
        good=[("service/database.py", ""), ("service/score.py", "")],
    ),
    Rule(
        "long-function",
        covers=lambda source: source.is_ours,
        check=long_functions,
        bad=[("service/intake.py", function_of(51)), ("notifiers/mail.py", "async " + function_of(51))],
        good=[("service/intake.py", function_of(50)), ("service/intake.py", 'def f():\n    """One\n    two."""\n' + "    x = 1\n" * 49)],
    ),
    Rule(
        "long-file",
        covers=lambda source: source.is_ours,
        check=long_files,
        bad=[("deadlines/limits.py", "\n" * 451)],
        good=[("deadlines/limits.py", "\n" * 450), ("tests/test_limits.py", "\n" * 451)],
    ),
    Rule(
        "clock",
        covers=lambda source: source.is_ours and source.path != "service/clock.py",
        check=clock_readings,
        bad=[
            ("service/outbox.py", "from datetime import UTC, datetime\nx = datetime.now(UTC)"),
            ("service/outbox.py", "import datetime as dt\nx = dt.datetime.utcnow()"),
            ("service/tables.py", "from datetime import datetime as D\nclass T:\n    at = Field(default_factory=D.now)"),
            ("deadlines/limits.py", "import datetime\nx = datetime.date.today()"),
            ("deadlines/limits.py", "from time import time as t\nx = t()"),
            ("notifiers/sms.py", "import time\nx = time.time_ns()"),
            ("service/outbox.py", "from datetime import datetime\nx = datetime.fromtimestamp(5)"),
            ("service/outbox.py", "import time\nx = time.monotonic()"),
            ("service/tables.py", "from sqlmodel import func\nx = func.now()"),
        ],
        good=[
            ("service/clock.py", "from datetime import UTC, datetime\nx = datetime.now(UTC)"),
            ("service/worker.py", "import time\nx = time.monotonic()"),
            ("notifiers/sms.py", "import time\nx = time.monotonic()"),
            ("service/outbox.py", "from datetime import UTC, datetime\nx = datetime.fromtimestamp(5, UTC)"),
            ("service/outbox.py", "x = clock.now()\ny = self.datetime.now()"),
        ],
    ),
    Rule(
        "commit",
        covers=lambda source: source.is_ours and source.path != "service/transaction.py",
        check=commits,
        bad=[("service/intake.py", "async def f(session):\n    await session.commit()")],
        good=[("service/transaction.py", "session.commit()"), ("service/intake.py", "commit = True")],
    ),
    Rule(
        "docstring",
        covers=lambda source: source.is_ours and source.top == "deadlines",
        check=missing_docstrings,
        bad=[("deadlines/limits.py", "def f(): ..."), ("deadlines/limits.py", "class A: ...")],
        good=[("deadlines/limits.py", 'def f():\n    """F."""\n    def g(): ...\ndef _h(): ...'), ("service/app.py", "def f(): ...")],
    ),
    Rule(
        "swallowed-error",
        covers=lambda source: source.is_python,
        check=swallowed_errors,
        bad=[
            ("service/worker.py", "try:\n    x()\nexcept:\n    raise"),
            ("service/worker.py", "try:\n    x()\nexcept Exception:\n    pass"),
            ("notifiers/sms.py", "for y in x:\n    try:\n        y()\n    except (ValueError, Exception) as error:\n        continue"),
            ("service/worker.py", "from contextlib import suppress\nwith suppress(Exception):\n    x()"),
        ],
        good=[
            ("service/worker.py", "try:\n    x()\nexcept ValueError:\n    pass"),
            ("service/worker.py", "try:\n    x()\nexcept Exception:\n    log.exception('x failed')"),
        ],
    ),
    Rule(
        "print",
        covers=lambda source: source.is_ours and source.path not in ("service/cli.py", "service/commands.py"),
        check=prints,
        bad=[("service/app.py", "print('here')")],
        good=[("service/cli.py", "print('here')"), ("service/app.py", "sheet.print('here')")],
    ),
    Rule(
        "machine-path",
        covers=every_file,
        check=matches(MACHINE_PATH, "'{}' is a place on somebody's machine"),
        bad=[("a.md", f"in {path}") for path in ("/work/main", "'/root/.cache'", "(/home/ann/x)")],  # house-skip: machine-path
        good=[("a.md", "https://example.org/work/permits"), ("a.md", "the network/work/home loop, /var/lib/spillclock")],
    ),
    Rule(
        "registry-host",
        covers=every_file,
        check=matches(REGISTRY, "'{}' is a package registry: name the package, the machine's own settings say where from"),
        bad=[("requirements.lock", f"--index-url https://{host}/simple") for host in HOSTS]
        + [("Dockerfile", f"RUN pip download https://files.{HOSTS[1]}/x")],
        good=[("README.md", "https://www.postgresql.org and https://typst.app")],
    ),
    Rule(
        "lock-address",
        covers=lambda source: source.path == "requirements.lock",
        check=matches(
            re.compile(r"://|^\s*-\S*(?:index|find-links|editable)\S*|^\s*-e\b| @ |^\./|file:"),
            "'{}': the lock holds names, versions, hashes",
        ),
        bad=[("requirements.lock", line) for line in ("a @ https://x/a.whl", "--extra-index-url x", "-e .", "./a.whl", "a @ file:a.whl")],
        good=[("requirements.lock", "colorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n")],
    ),
    Rule(
        "test-sentence",
        covers=lambda source: source.is_python and source.top == "tests",
        check=short_test_names,
        bad=[
            ("tests/test_limits.py", "def test_two_hours(): ..."),
            ("tests/test_limits.py", "class TestA:\n    async def test_it(self): ..."),
        ],
        good=[("tests/test_limits.py", "def test_two_hours_end_on_time(): ...\ndef testing(): ...")],
    ),
]


def project_files() -> list[str]:
    """Paths of all files that are in git or would be added; without git, all files outside hidden and generated folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0:
        return sorted({path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()})
    paths = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    skipped = {"var", "dist", "__pycache__", "screenshots"}
    return sorted(str(path) for path in paths if not any(part in skipped or part.startswith(".") for part in path.parts))


def project_sources() -> Iterator[Source]:
    for path in project_files():
        content = (ROOT / path).read_bytes()
        if b"\0" not in content[:8192]:  # a picture or a PDF is no text
            yield Source(path, content.decode("utf-8", "replace"))


@pytest.fixture(scope="module")
def sources() -> list[Source]:
    found = list(project_sources())
    assert {source.top for source in found} >= {*PACKAGES, "tests", "requirements.lock"}, "the rules would look at nothing"
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_project_keeps_the_rule(rule: Rule, sources: list[Source]) -> None:
    findings = [finding for source in sources for finding in rule.findings(source)]
    assert not findings, "\n" + "\n".join(findings)


@pytest.mark.parametrize(
    ("rule", "path", "text"), [pytest.param(rule, *bad, id=f"{rule.name}-{n}") for rule in RULES for n, bad in enumerate(rule.bad)]
)
def test_the_rule_catches_its_bad_example(rule: Rule, path: str, text: str) -> None:
    findings = rule.findings(Source(path, text))
    assert findings
    assert all(re.fullmatch(rf"{re.escape(path)}:\d+: .+ \[{rule.name}\]", finding) for finding in findings)


@pytest.mark.parametrize(
    ("rule", "path", "text"), [pytest.param(rule, *good, id=f"{rule.name}-{n}") for rule in RULES for n, good in enumerate(rule.good)]
)
def test_the_rule_passes_its_good_example(rule: Rule, path: str, text: str) -> None:
    assert rule.findings(Source(path, text)) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_marked_line_is_excused_from_that_rule_alone(rule: Rule) -> None:
    path, text = rule.bad[0]
    marked = "\n".join(f"{line}  # house-skip: {rule.name}" for line in text.split("\n"))
    assert rule.findings(Source(path, marked)) == []
    assert rule.findings(Source(path, marked.replace(f"skip: {rule.name}", f"skip: {rule.name}-other")))
