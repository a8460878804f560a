def merge(a, b):
    out = []
    while a and b:
        if a[0] <= b[0]:
            out.append(a.pop(0))
        else:
            out.append(b.pop(0))
    return out + a + b


def sort(values):
    middle = len(values) // 2
    if middle == 0:
        return values
    return merge(sort(values[:middle]), sort(values[middle:]))


print(sort([5, 2, 9, 1, 7]))
