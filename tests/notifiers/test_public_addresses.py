"""Which addresses are public: what somebody enters must not lead us to ourselves, to our network or to a cloud's page of passwords."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifiers.public_addresses import is_local_name, is_public, resolve


@pytest.mark.parametrize("address", ["8.8.8.8", "104.18.2.3", "2606:4700::6812:203", "64:ff9b::808:808", "2002:808:808::1"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"),  # noqa: S104 - compared
        *("169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"),  # metadata, CGNAT
        *("224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "100::1"),
        *(
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:a9fe:a9fe",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "::127.0.0.1",
        ),
        *("2001:0:808:808:0:0:80ff:fffe", "no address", ""),  # Teredo, with 127.0.0.1 in it
    ],
)
def test_any_other_address_is_not_public(address: str) -> None:
    assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_carried_in_another_is_judged_as_it_is_itself(address: object) -> None:
    assert is_public(f"::ffff:{address}") == is_public(f"64:ff9b::{address}") == is_public(str(address))


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST.", "intranet", "a.localhost", "printer.local", "db.internal", "nas.lan"])
def test_a_name_of_a_network_of_ones_own_is_local(name: str) -> None:
    assert is_local_name(name)


def test_a_name_of_the_internet_is_not_local() -> None:
    assert not is_local_name("hooks.example.gov")


async def test_the_machine_resolves_its_own_name_to_itself() -> None:
    found = await resolve("localhost", 443)
    assert found
    assert not any(map(is_public, found))
