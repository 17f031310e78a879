def merge_spans(spans):
    merged = []
    for start, end in sorted(span for span in spans if span[0] <= span[1]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged
