"""Residues of composite 2^p - 1 by Python's integers: `python3 residues.py > residues.txt`.

One line for each of 200 exponents up to 20,000: p, the low 64 bits of the last
Lucas-Lehmer residue, and of 3^(M - 1) mod M, M = 2^p - 1.
"""

KNOWN = {3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127, 521, 607, 1279, 2203, 2281, 3217, 4253,
         4423, 9689, 9941, 11213, 19937}


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def fold(x, p, m):
    while x > m:
        x = (x & m) + (x >> p)
    return 0 if x == m else x


primes = [p for p in range(11, 20001) if is_prime(p) and p not in KNOWN]
for p in [primes[i * len(primes) // 200] for i in range(199)] + primes[-1:]:
    m = (1 << p) - 1
    s = 4
    for _ in range(p - 2):
        s = fold(s * s, p, m)
        s = s - 2 if s >= 2 else s - 2 + m
    x = 3
    for _ in range(p):
        x = fold(x * x, p, m)
    x = x * pow(9, -1, m) % m
    low = (1 << 64) - 1
    print(f"{p} {s & low:016X} {x & low:016X}", flush=True)
