"""The cluster's query in plain Python: of lines `a b k` the lines of the answer."""

import math
import sys

groups = {}
for line in sys.stdin:
    a, b, k = map(int, line.split())
    if a > b:
        groups.setdefault(k, []).append((a, b))

answer = []
for k, rows in groups.items():
    total = sum(a * b - k for a, b in rows)
    most = max(a for a, _ in rows)
    mean = sum(a for a, _ in rows) // len(rows)
    divisor = math.gcd(*(a * b * 6 for a, b in rows))
    least = max(-b for _, b in rows)
    answer.append((k, total, most, mean, divisor, least, len(rows)))
answer.sort(key=lambda row: -row[2])
for row in answer:
    print(*row)
