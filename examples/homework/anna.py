def is_prime(n):
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


def primes(limit):
    found = []
    for n in range(limit):
        if is_prime(n):
            found.append(n)
    return found


for p in primes(100):
    print(p)
