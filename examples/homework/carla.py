import sys


def count(lines):
    counts = {}
    for line in lines:
        for word in line.lower().split():
            counts[word] = counts.get(word, 0) + 1
    return counts


def frequent(counts, most):
    pairs = sorted(counts.items(), key=lambda pair: -pair[1])
    return pairs[:most]


for word, number in frequent(count(sys.stdin), 10):
    print(number, word)
