"""Checks an exported record of Spillclock: python3 check_chain.py RECORD.jsonl. How a record is hashed: docs/proof.md of Spillclock."""

import hashlib, json, sys  # noqa: E401, I001


def digest(text: str) -> str:  # the SHA-256 of a text, in hex
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


ends: dict[str, tuple[int, str]] = {}
for line in open(sys.argv[1], encoding="utf-8"):  # noqa: SIM115
    one = json.loads(line)
    chain, number, (last, before) = one["chain"], one["number"], ends.get(one["chain"], (0, "0" * 64))
    told = digest(one["record"]) if "record" in one else one["digest"]  # of what is not ours to read, the digest alone
    follows = (number, one["previous"], one["hash"]) == (last + 1, before, digest(f"{chain}\n{number}\n{before}\n{told}"))
    sealed = "sealed" not in one or digest(f"{one['salt']}\n{one['sealed']}") == json.loads(one["record"])["seal"]
    if not (follows and sealed):
        sys.exit(f"BROKEN: {chain}, record {number}, after number {last}")
    ends[chain] = (number, one["hash"])
sys.stdout.write("".join(f"{chain}: {number} records, the last with the hash {end}\n" for chain, (number, end) in ends.items()))
