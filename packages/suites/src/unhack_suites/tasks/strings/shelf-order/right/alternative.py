"""Pairwise comparison with two cursors, used by a merge sort."""


def _is_digit(label: str, pos: int) -> bool:
    return "0" <= label[pos] <= "9"


def _number_end(label: str, pos: int) -> int:
    while pos < len(label) and _is_digit(label, pos):
        pos += 1
    return pos


def _not_after(left: str, right: str) -> bool:
    i = j = 0
    while i < len(left) and j < len(right):
        if _is_digit(left, i) != _is_digit(right, j):
            return _is_digit(left, i)
        if _is_digit(left, i):
            i2, j2 = _number_end(left, i), _number_end(right, j)
            a, b = int(left[i:i2]), int(right[j:j2])
            i, j = i2, j2
        else:
            a, b = ord(left[i].lower()), ord(right[j].lower())
            i, j = i + 1, j + 1
        if a != b:
            return a < b
    if i < len(left) or j < len(right):
        return j < len(right)
    return left <= right


def shelf_order(labels: list[str]) -> list[str]:
    if len(labels) <= 1:
        return list(labels)
    middle = len(labels) // 2
    first, second = shelf_order(labels[:middle]), shelf_order(labels[middle:])
    merged: list[str] = []
    i = j = 0
    while i < len(first) and j < len(second):
        if _not_after(first[i], second[j]):
            merged.append(first[i])
            i += 1
        else:
            merged.append(second[j])
            j += 1
    return merged + first[i:] + second[j:]
