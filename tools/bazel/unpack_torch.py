#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""unpack_torch.py WHEEL FOLDER: keeps PyTorch's snapshot viewer and its licence, nothing else."""

import os
import sys
import zipfile


def main(wheel, folder):
    os.makedirs(folder)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            licence = ".dist-info/" in name and os.path.basename(name) in ("LICENSE", "NOTICE")
            if name == "torch/cuda/_memory_viz.py" or licence:
                with open(os.path.join(folder, os.path.basename(name)), "wb") as out:
                    out.write(archive.read(name))
    if not os.path.exists(os.path.join(folder, "_memory_viz.py")):
        sys.exit(f"{wheel} has no torch/cuda/_memory_viz.py")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
