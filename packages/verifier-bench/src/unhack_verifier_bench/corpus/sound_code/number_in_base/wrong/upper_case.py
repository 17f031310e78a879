def number_in_base(number, base):
    if base < 2 or base > 16:
        return ""
    digits, rest = "", abs(number)
    while rest:
        digits = "0123456789ABCDEF"[rest % base] + digits
        rest //= base
    return ("-" if number < 0 else "") + (digits or "0")
