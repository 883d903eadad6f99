"""Channels to people: e-mail over SMTP, SMS and calls over Twilio, webhooks, Apprise, and a file that stands in for any of them.

Knows messages and addresses, not spills; imports nothing of ours, reads no environment, no clock, and writes no log.

    channel.problem_with(address)   what is wrong with an address, before it is stored
    await channel.send(message)     one attempt: accepted, try_again, refused or unknown
    await channel.aclose()          at the end
"""

from notifiers.addresses import e164
from notifiers.apprise_channel import AppriseChannel
from notifiers.channel import Channel
from notifiers.email import EmailChannel
from notifiers.event_hook import EventHookChannel
from notifiers.file import FileChannel, blank
from notifiers.message import Message, Outcome, Receipt
from notifiers.sms import SmsChannel, segments
from notifiers.smtp import Encryption, SmtpServer, parse_smtp_url
from notifiers.twilio import TwilioAccount
from notifiers.voice import VoiceChannel
from notifiers.webhook import WebhookChannel, webhook_secret

__all__ = [
    "AppriseChannel",
    "Channel",
    "EmailChannel",
    "Encryption",
    "EventHookChannel",
    "FileChannel",
    "Message",
    "Outcome",
    "Receipt",
    "SmsChannel",
    "SmtpServer",
    "TwilioAccount",
    "VoiceChannel",
    "WebhookChannel",
    "blank",
    "e164",
    "parse_smtp_url",
    "segments",
    "webhook_secret",
]
