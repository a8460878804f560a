import sys
from collections import Counter


def words(text):
    return [w.strip(".,;:!?") for w in text.lower().split()]


counter = Counter(words(sys.stdin.read()))
for word, number in counter.most_common(10):
    print(f"{number:6d} {word}")
