"""Spillclock's service: the only place with a database, a web server and a clock.

A report arrives (`intake`) and becomes a spill, which is a list of events (`spills`). Each event has reactions (`reactions`) in the
same transaction (`transaction`): the law engine says which clocks run and each becomes an obligation (`obligations`); an open
obligation has a ladder of people (`escalation`); a rung that is due promises messages (`outbox`) in words (`wording`) to the people who
hold a role (`parties`). The worker (`worker`) climbs ladders and hands messages to a channel of `notifiers`. Written reports are
drafted and filed in `followups`. What was done comes back as an event and stops the clock.
"""
