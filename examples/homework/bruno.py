def primes(limit):
    crossed = [False] * (limit + 1)
    for n in range(2, limit + 1):
        if crossed[n]:
            continue
        yield n
        for multiple in range(n * n, limit + 1, n):
            crossed[multiple] = True


print(", ".join(str(p) for p in primes(100)))
