"""Which addresses of the internet we may be sent to by somebody else's word: public ones only.

An address that somebody enters can name this machine, its network, or the page on which a cloud hands out the machine's own passwords.
So a name is resolved first, all of its addresses are looked at, and whoever connects does so to one of those, not to the name.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Returns the addresses of a host name for a port, best first. Raises OSError where it has none.
Resolve = Callable[[str, int], Awaitable[list[str]]]

_LOCAL_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
# Not private by any register, but where clouds answer questions about the machine that asks (Azure; Oracle among the protocol assignments).
_OF_CLOUDS = tuple(map(ipaddress.ip_network, ("168.63.129.16/32", "192.0.0.0/24")))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a name, as this machine's resolver gives them."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def is_local_name(host: str) -> bool:
    """Whether a host name is of this machine or network by its mere form."""
    name = host.lower().rstrip(".")
    return "." not in name or name.endswith(_LOCAL_NAMES)


def address_of(host: str) -> Address | None:
    """The host as an address, where it is written as one; None for a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def is_public(address: str | Address) -> bool:
    """Whether an address is reached over the internet.

    It is not where it is private, loopback, link-local, shared (CGNAT), multicast, reserved, or where a cloud answers its own machines.

    An IPv6 address that carries one of IPv4 (mapped, NAT64, 6to4, Teredo) is judged by the one that it carries.
    """
    try:
        given = ipaddress.ip_address(address)
    except ValueError:
        return False  # with a zone, as fe80::1%eth0, or no address at all
    if isinstance(given, ipaddress.IPv6Address):
        if carried := _carried(given):
            return is_public(carried)
        return given in _GLOBAL_UNICAST and given.is_global
    return given.is_global and not given.is_multicast and not given.is_reserved and not any(given in network for network in _OF_CLOUDS)


def _carried(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
