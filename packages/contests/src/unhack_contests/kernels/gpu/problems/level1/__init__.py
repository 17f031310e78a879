"""Single operations: element-wise, broadcasts, reductions, scans, data movement."""
