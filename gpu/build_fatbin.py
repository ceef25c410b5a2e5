#!/usr/bin/env python3
"""Compiles one file of kernels with nvcc and writes the fatbin as a C++ source.

The source defines `const void* lath::gpu::fatbins::SYMBOL()`, which gives the fatbin, or null where --nvcc is
empty. Architectures: the oldest from compute_70 on that this nvcc still has, every later major one, and PTX of the
newest, from which drivers compile for GPUs that came later.
"""
import argparse
import re
import subprocess
import tempfile
from pathlib import Path

SOURCE = """// Made by gpu/build_fatbin.py.
namespace lath::gpu::fatbins {{
{data}
const void* {symbol}();
const void* {symbol}() {{
  return {value};
}}
}}
"""


def architectures(nvcc):
    listed = subprocess.run([nvcc, "--list-gpu-arch"], check=True, capture_output=True, text=True).stdout
    numbers = sorted(n for n in map(int, re.findall(r"compute_(\d+)\b", listed)) if n >= 70)
    first_of_major = {}
    for number in numbers:
        first_of_major.setdefault(number // 10, number)
    return sorted(first_of_major.values()), numbers[-1]


def compile_fatbin(arguments, output):
    real, newest = architectures(arguments.nvcc)
    targets = [f"-gencode=arch=compute_{n},code=sm_{n}" for n in real]
    targets.append(f"-gencode=arch=compute_{newest},code=compute_{newest}")
    command = [arguments.nvcc, "-std=c++17", "-O3", "-fatbin", "-fmad=false", "-Werror=all-warnings", "--threads=0"]
    command += [f"-I{folder}" for folder in arguments.include] + targets
    command += ["-o", output, arguments.source]
    if arguments.depfile:
        command += ["-MD", "-MF", arguments.depfile, "-MT", arguments.output]
    subprocess.run(command, check=True)


def as_words(data):
    data += bytes(-len(data) % 8)
    words = [f"0x{int.from_bytes(data[i:i + 8], 'little'):x}u" for i in range(0, len(data), 8)]
    lines = [",".join(words[i:i + 12]) for i in range(0, len(words), 12)]
    return "alignas(16) static const unsigned long long data[] = {\n" + ",\n".join(lines) + "};"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--symbol", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--depfile", default="")
    parser.add_argument("source")
    parser.add_argument("output")
    arguments = parser.parse_args()
    data, value = "", "nullptr"
    if arguments.nvcc:
        with tempfile.TemporaryDirectory() as folder:
            fatbin = str(Path(folder) / "kernels.fatbin")
            compile_fatbin(arguments, fatbin)
            data, value = as_words(Path(fatbin).read_bytes()), "data"
    elif arguments.depfile:
        Path(arguments.depfile).write_text(f"{arguments.output}: {arguments.source}\n")
    Path(arguments.output).write_text(SOURCE.format(data=data, symbol=arguments.symbol, value=value))


if __name__ == "__main__":
    main()
