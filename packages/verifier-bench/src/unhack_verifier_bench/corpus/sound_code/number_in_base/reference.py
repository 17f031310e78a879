def number_in_base(number, base):
    if base < 2 or base > 16:
        return ""
    if number == 0:
        return "0"
    digits = ""
    rest = abs(number)
    while rest:
        digits = "0123456789abcdef"[rest % base] + digits
        rest //= base
    return "-" + digits if number < 0 else digits
