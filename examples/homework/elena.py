def sort(values):
    for i in range(1, len(values)):
        x = values[i]
        j = i
        while j > 0 and values[j - 1] > x:
            values[j] = values[j - 1]
            j -= 1
        values[j] = x
    return values


print(sort([5, 2, 9, 1, 7]))
