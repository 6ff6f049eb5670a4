#!/usr/bin/env python3
"""Writes the RSA moduli of the certificate authorities that Debian trusts.

    extract.py [FOLDER] [--package VERSION]

FOLDER holds the PEM certificates of Debian's package ca-certificates
(default /usr/share/ca-certificates/mozilla). Only facts are taken from them:
the modulus, and the file's name. Certificates with other keys are skipped.

Writes moduli.txt, left.txt and right.txt beside this script; the same
certificates give the same bytes.
"""

import argparse
import pathlib
import ssl
import subprocess

RSA_ENCRYPTION = bytes.fromhex("2a864886f70d010101")  # 1.2.840.113549.1.1.1
SEQUENCE, INTEGER, BIT_STRING, OBJECT_IDENTIFIER = 0x30, 0x02, 0x03, 0x06


def values(der):
    """The (tag, content) pairs that a run of DER values consists of."""
    while der:
        tag, length, start = der[0], der[1], 2
        if length >= 0x80:
            start += length - 0x80
            length = int.from_bytes(der[2:start], "big")
        yield tag, der[start : start + length]
        der = der[start + length :]


def modulus(certificate):
    """The RSA modulus of a DER certificate (RFC 5280, RFC 8017), or None."""
    ((_, signed),) = values(certificate)
    (_, to_be_signed), *_ = values(signed)
    for tag, field in values(to_be_signed):
        # subjectPublicKeyInfo: the only field { { algorithm }, BIT STRING }
        if tag != SEQUENCE:
            continue
        parts = list(values(field))
        if [tag for tag, _ in parts] != [SEQUENCE, BIT_STRING]:
            continue
        (_, algorithm), (_, bits) = parts
        if next(values(algorithm)) != (OBJECT_IDENTIFIER, RSA_ENCRYPTION):
            return None
        ((_, key),) = values(bits[1:])
        (tag, number), _ = values(key)
        assert tag == INTEGER
        return int.from_bytes(number, "big")
    return None


def installed_version():
    query = ["dpkg-query", "--show", "--showformat=${Version}", "ca-certificates"]
    return subprocess.run(query, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="/usr/share/ca-certificates/mozilla")
    parser.add_argument("--package", help="the package's version, where it is not installed")
    arguments = parser.parse_args()
    version = arguments.package or installed_version()

    keys = []
    for path in pathlib.Path(arguments.folder).glob("*.crt"):
        number = modulus(ssl.PEM_cert_to_DER_cert(path.read_text(encoding="utf-8")))
        if number is not None:
            keys.append((number.bit_length(), path.stem, number))
    keys.sort()

    here = pathlib.Path(__file__).parent
    source = f"# RSA moduli from Debian's ca-certificates {version}, by length and name\n"

    def write(file, chosen):
        lines = [f"# {name} ({bits} bits)\n{number:#x}\n" for bits, name, number in chosen]
        (here / file).write_text(source + "".join(lines), encoding="utf-8")

    # The first level of a product tree: each modulus with its neighbour. The
    # last of an odd number of moduli has none.
    left, right = keys[0 : len(keys) // 2 * 2 : 2], keys[1::2]
    write("moduli.txt", keys)
    write("left.txt", left)
    write("right.txt", right)
    print(f"{len(keys)} moduli, {len(left)} pairs")


if __name__ == "__main__":
    main()
