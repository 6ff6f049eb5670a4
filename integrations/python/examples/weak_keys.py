"""RSA moduli that share a prime: a product of all of them, one common divisor for each.

Cells are marked by `# %%`; `python weak_keys.py` runs all.
"""

# %% Moduli of 512 bits, of which a few were made with too little chance.
import random

import bigint_engine as bi

draw = random.Random(2)
primes = bi.next_prime([draw.getrandbits(256) | 1 << 255 for _ in range(400)])
assert bi.is_prime(primes).all()
p, q = primes[:200], primes[200:]
moduli = p * q
shared = p[17:18]
moduli = bi.where([row not in (3, 90) for row in range(len(moduli))], moduli, q * shared.to_list()[0])
moduli

# %% A modulus divides the product of all; what is left modulo its square tells whether it shares a prime.
product = moduli.prod()
common = bi.gcd(product % (moduli * moduli) // moduli, moduli)
weak = common > 1
[row for row, is_weak in enumerate(weak) if is_weak]

# %% Both primes of each weak modulus.
factors = common[weak]
cofactors = bi.divexact(moduli[weak], factors)
assert (factors * cofactors == moduli[weak]).all() and bi.is_prime(cofactors).all()
assert set(factors.to_list()) == {shared.to_list()[0]}
assert [row for row in range(200) if weak[row]] == [3, 17, 90]

# %% Signatures of the others: powers modulo each modulus, all in one call.
strong = ~weak
message = 0x48656C6C6F
signature = bi.powmod(message, 65537, moduli[strong])
signature
