"""Keeps secrets out of run files, reports and the screen."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

HIDDEN = "<hidden>"

# A whole word of a name: `token` and `api_key`, but not `tokens`, `tokenizer` or `key_padding_mask`.
_SECRET_NAME = re.compile(
    r"(?:^|[_\-.])(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_\-]?key|access[_\-]?key|private[_\-]?key|auth|"
    r"credentials?|bearer|cookie)(?:$|[_\-.])",
    re.IGNORECASE,
)
_URL_LOGIN = re.compile(r"(?<=://)[^/\s:@'\"]*:[^/\s@'\"]+(?=@)")
_QUERY_SECRET = re.compile(r"(?i)(?<=[?&])((?:[\w\-]*(?:token|key|secret|password|signature|sig)))=[^&\s'\"]+")
_KNOWN_TOKEN = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_\-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16}|"
    r"xox[abpr]-[A-Za-z0-9\-]{10,}|eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]*)"
)
_ASSIGNED = re.compile(r"""(?i)(\b[\w.\-]+\b["']?\s*[=:]\s*)(["'])(?:(?!\2).)+\2""")
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9+/_\-.=]{8,}")


def is_secret_name(name: str) -> bool:
    """Whether a variable, option or key of this name holds something to hide.

    >>> is_secret_name("api_key"), is_secret_name("tokenizer")
    (True, False)
    """
    return bool(_SECRET_NAME.search(name))


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text without logins in URLs, known token shapes, secret assignments and secret environment values."""
    for value in _secret_values(os.environ if environment is None else environment):
        text = text.replace(value, HIDDEN)
    text = _URL_LOGIN.sub(HIDDEN, text)
    text = _QUERY_SECRET.sub(rf"\1={HIDDEN}", text)
    text = _KNOWN_TOKEN.sub(HIDDEN, text)
    text = _BEARER.sub(rf"\1 {HIDDEN}", text)
    return _ASSIGNED.sub(_hide_assigned, text)


def redact_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """A command line without the values of secret options, in both spellings.

    >>> redact_argv(["t.py", "--password", "x", "--api-key=y"])
    ('t.py', '--password', '<hidden>', '--api-key=<hidden>')
    """
    clean: list[str] = []
    hide_next = False
    for word in argv:
        option, equals, _ = word.partition("=")
        if hide_next and not word.startswith("--"):
            clean.append(HIDDEN)
            hide_next = False
            continue
        secret = is_secret_name(option.lstrip("-"))
        clean.append(f"{option}={HIDDEN}" if secret and equals else redact(word))
        hide_next = secret and not equals and word.startswith("-")
    return tuple(clean)


def _secret_values(environment: Mapping[str, str]) -> list[str]:
    return [value for name, value in environment.items() if len(value) >= 6 and _is_secret_variable(name)]


def _is_secret_variable(name: str) -> bool:
    """`PWD` and `OLDPWD` are folders of the shell, not passwords."""
    return is_secret_name(name) and name not in ("PWD", "OLDPWD")


def _hide_assigned(match: re.Match[str]) -> str:
    name = re.split(r"""["'\s=:]""", match.group(1).strip())[0]
    return f"{match.group(1)}{match.group(2)}{HIDDEN}{match.group(2)}" if is_secret_name(name) else match.group(0)
