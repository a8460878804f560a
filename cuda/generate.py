"""Compiles kernels.cu to PTX, for each order, with NVRTC from PyPI.

python generate.py FOLDER writes cross_ORDER.ptx and factors_ORDER.ptx to a folder. It needs no GPU.
"""

import ctypes
import pathlib
import sys

import nvidia.cuda_nvrtc

ORDERS = [4, 6, 8, 10, 12, 16, 24, 32, 48, 64]  # orders in device_linux.go
OPTIONS = ["--gpu-architecture=compute_70", "--std=c++17", "--fmad=false"]

here = pathlib.Path(__file__).parent
nvrtc = ctypes.CDLL(str(next(pathlib.Path(nvidia.cuda_nvrtc.__path__[0]).glob("lib/libnvrtc.so*"))))


def text(program, what):
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    out = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, out)
    return out.value.decode()


def ptx(source, order, factors):
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None)
    options = [o.encode() for o in [*OPTIONS, f"-DORDER={order}", f"-DFACTORS={factors}"]]
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    if log := text(program, "ProgramLog"):
        sys.exit(log)
    if failed:
        sys.exit(f"NVRTC error {failed}")
    return text(program, "PTX")


source = (here / "kernels.cu").read_text()
for order in ORDERS:
    for factors, name in enumerate(["cross", "factors"]):
        path = pathlib.Path(sys.argv[1]) / f"{name}_{order}.ptx"
        path.write_text(ptx(source, order, factors))
