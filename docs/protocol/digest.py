#!/usr/bin/env python3
"""usage: digest.py [--deep] < changes.ndjson

The digest of docs/protocol/digest.md, computed from a change feed (NDJSON) that was read from its beginning to its end.
Prints an array of [type, month, samples, sum, tombstones, sum] and, with --deep, the sum over the contents.
"""
import hashlib, json, re, struct, sys, uuid


def number(message):
    return int.from_bytes(hashlib.sha256(message).digest()[:16], "big")


def microseconds(text):
    year, month, day, hour, minute, second, fraction = re.fullmatch(
        r"([+-]?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{6}))?Z", text).groups()
    # Days since 1970-01-01: years begin in March, so that the leap day is the last.
    y, m = (int(year), int(month) - 3) if int(month) > 2 else (int(year) - 1, int(month) + 9)
    days = 365 * y + y // 4 - y // 100 + y // 400 + (153 * m + 2) // 5 + int(day) - 1 - 719468
    seconds = days * 86400 + int(hour) * 3600 + int(minute) * 60 + int(second)
    return seconds * 1000000 + int(fraction or 0)


def key(name):
    return hashlib.sha256(b"hpeer-digest/1 type " + name.encode()).digest()[:16]


def canonical(value):
    if value is None:
        return b"n"
    if value is True or value is False:
        return b"t" if value else b"f"
    if isinstance(value, str):
        return b"s" + struct.pack(">I", len(value.encode())) + value.encode()
    if isinstance(value, (int, float)):
        if value == int(value) and -2**63 <= value < 2**63:
            return b"i" + struct.pack(">q", int(value))
        return b"d" + struct.pack(">d", value)
    if isinstance(value, list):
        return b"a" + b"".join(map(canonical, value)) + b"e"
    members = sorted(value.items(), key=lambda member: member[0].encode())
    return b"o" + b"".join(canonical(name) + canonical(content) for name, content in members) + b"e"


def main(deep):
    types = {}
    for line in sys.stdin.buffer:
        change = json.loads(line)
        sample = change.get("added") or change.get("deleted", {}).get("sample")
        if not sample:
            continue
        month = types.setdefault(sample["type"], {}).setdefault(sample["start"].split("T")[0][:-3], [0] * 5)
        message = key(sample["type"]) + struct.pack(">q", microseconds(sample["start"]))
        if "added" in change:
            message += struct.pack(">q", microseconds(sample["end"])) + uuid.UUID(sample["uuid"]).bytes
            month[0] += 1
            month[1] += number(b"S" + message)
            month[4] += number(b"hpeer-digest/1 content " + canonical(sample))
        else:
            month[2] += 1
            month[3] += number(b"T" + message + uuid.UUID(sample["uuid"]).bytes)
    hexadecimal = lambda total: f"{total % 2**128:032x}"
    print(json.dumps([[name, month, m[0], hexadecimal(m[1]), m[2], hexadecimal(m[3])] + [hexadecimal(m[4])] * deep
                      for name, months in types.items() for month, m in months.items()]))


main("--deep" in sys.argv)
