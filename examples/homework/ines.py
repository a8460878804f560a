import sys

words = {}
for line in sys.stdin:
    for word in line.split():
        word = word.lower()
        if word in words:
            words[word] += 1
        else:
            words[word] = 1
best = sorted(words, key=words.get, reverse=True)
for word in best[:10]:
    print(words[word], word)
