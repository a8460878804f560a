# My own program.
def tells(value):
    if value < 2:
        return False
    candidate = 2
    while candidate * candidate <= value:
        if value % candidate == 0:
            return False
        candidate += 1
    return True


def collect(top):
    result = []
    for value in range(top):
        if tells(value):
            result.append(value)
    return result


print("The primes:")
for value in collect(100):
    print(value)
