"""Channels for tests: real ones, small, that answer as they are told and remember what they were handed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from notifiers import Message, Outcome, Receipt

Answer = Outcome | BaseException


class Post:
    """A channel that gives its answers in order, then `then` for ever; an exception among them is raised instead."""

    def __init__(self, name: str, *answers: Answer, then: Answer = Outcome.ACCEPTED, wrong: Sequence[str] = ()) -> None:
        self.name = name
        self.answers = list(answers)
        self.then = then
        self.wrong = wrong
        self.got: list[Message] = []

    def problem_with(self, address: str) -> str | None:
        """Addresses in `wrong` are."""
        return f"{address} is wrong" if address in self.wrong else None

    async def send(self, message: Message) -> Receipt:
        """Take the message, after a moment in which others run, and answer."""
        self.got.append(message)
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if self.answers else self.then
        if isinstance(answer, BaseException):
            raise answer
        return Receipt(answer, f"post-{len(self.got)}", f"said {answer.value}")

    async def aclose(self) -> None:
        """Nothing is open."""


class Gate(Post):
    """A channel that holds every message until it is opened."""

    def __init__(self, name: str, *answers: Answer, then: Answer = Outcome.ACCEPTED) -> None:
        super().__init__(name, *answers, then=then)
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def send(self, message: Message) -> Receipt:
        """Say that the message is here, and wait."""
        self.reached.set()
        await self.open.wait()
        return await super().send(message)


def both(*answers: Answer, then: Answer = Outcome.ACCEPTED) -> dict[str, Post]:
    """A channel for e-mail and one for SMS, each with these answers."""
    return {name: Post(name, *answers, then=then) for name in ("email", "sms")}
