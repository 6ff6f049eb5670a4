#!/usr/bin/env python3
"""Prints the products of left.txt and right.txt, computed with Python's int.

    products.py [--format dec|hex]

What `bigint calc 'a*b'` must write, byte for byte.
"""

import argparse
import pathlib


def numbers(name):
    text = (pathlib.Path(__file__).parent / name).read_text(encoding="utf-8")
    lines = (line.strip() for line in text.splitlines())
    return [int(line, 0) for line in lines if line and not line.startswith("#")]


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--format", choices=["dec", "hex"], default="dec")
write = {"dec": str, "hex": hex}[parser.parse_args().format]
for a, b in zip(numbers("left.txt"), numbers("right.txt"), strict=True):
    print(write(a * b))
