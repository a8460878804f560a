def sort(values):
    if len(values) < 2:
        return values
    pivot = values[0]
    smaller = [v for v in values[1:] if v < pivot]
    larger = [v for v in values[1:] if v >= pivot]
    return sort(smaller) + [pivot] + sort(larger)


print(sort([5, 2, 9, 1, 7]))
