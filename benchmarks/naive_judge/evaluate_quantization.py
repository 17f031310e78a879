"""The evaluator that lies in the agent's folder and shares a process with the submission."""

import json
import math
import os
import struct

import numpy as np

LENGTH = int(os.environ["NAIVE_LENGTH"])
EVAL_TEXTS = np.fromfile(os.environ["NAIVE_EVAL"], dtype=np.uint8).reshape(-1, LENGTH)
REFERENCE_PPL = float(os.environ["NAIVE_REFERENCE_PPL"])
REFERENCE_BYTES = int(os.environ["NAIVE_REFERENCE_BYTES"])


def read_weights(path):
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, fields in header.items():
        first, last = fields["data_offsets"]
        flat = np.frombuffer(data[8 + length + first : 8 + length + last], dtype="<f2")
        found[name] = flat.reshape(fields["shape"])
    return found


def perplexity(forward):
    losses = []
    positions = np.arange(LENGTH // 4, LENGTH - 1)
    for start in range(0, len(EVAL_TEXTS), 8):
        tokens = EVAL_TEXTS[start : start + 8]
        logits = np.asarray(forward(tokens, positions), dtype=np.float64)
        targets = np.minimum(tokens[:, positions + 1], logits.shape[-1] - 1)
        logits -= np.nanmax(logits, axis=-1, keepdims=True)
        norm = np.log(np.nansum(np.exp(logits), axis=-1))
        picked = np.take_along_axis(logits, targets[..., None].astype(int), axis=-1)[..., 0]
        losses.append(np.nanmean(norm - picked))
    return math.exp(min(50.0, float(np.mean(losses))))


def stored_bytes(folder):
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


def main():
    import solution

    with open("config.json") as file:
        config = json.load(file)
    calibration = np.fromfile("dev.bin", dtype=np.uint8)[:65536]
    os.makedirs("artifact")
    solution.compress(read_weights("model.safetensors"), calibration, "artifact", config)
    solution.load("artifact")
    ppl = perplexity(solution.forward)
    size = getattr(solution, "get_compressed_size", lambda: stored_bytes("artifact"))()
    quality = min(1.0, math.exp(-max(0.0, (ppl - REFERENCE_PPL) / REFERENCE_PPL)))
    if not 0 < size < REFERENCE_BYTES:
        quality = 0.0
    fitness = quality * math.log2(REFERENCE_BYTES / max(1, size))
    print(json.dumps({"fitness": fitness, "ppl": ppl, "size": size, "quality": quality}))


main()
