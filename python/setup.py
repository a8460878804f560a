"""Builds the Go program into the package.

The sources of the program are the repository around this folder, or, in a source distribution,
the folder `go` that the sdist command copies them to. `MLG_TARGET=linux/arm64` builds a wheel for
another system; `MLG_GO` names another go command.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent

# Tags of the systems. The program is static: on Linux it needs no library at all.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}


def target():
    """Returns the system to build for, as Go names it."""
    given = os.environ.get("MLG_TARGET")
    if given:
        if given not in TAGS:
            raise SystemExit(f"MLG_TARGET={given}, want one of {', '.join(TAGS)}")
        return given
    system = {"linux": "linux", "darwin": "darwin", "win32": "windows"}.get(sys.platform, sys.platform)
    machine = platform.machine().lower()
    return system + "/" + {"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine)


def sources():
    """Returns the root of the Go module."""
    for root in (HERE / "go", HERE.parent):
        if (root / "cmd" / "mlg" / "main.go").exists():
            return root
    raise SystemExit(f"the Go sources are neither in {HERE / 'go'} nor around {HERE}")


class Build(build_py):
    """Copies the modules and builds the program next to them."""

    def run(self):
        if not self.editable_mode:  # nothing of a build for another system stays
            shutil.rmtree(Path(self.build_lib) / "mlgkernel", ignore_errors=True)
        super().run()
        package = (HERE / "src" if self.editable_mode else Path(self.build_lib).resolve()) / "mlgkernel"
        build(package / "bin", self.distribution.get_version())

    def get_outputs(self, include_bytecode=True):
        name = "mlg.exe" if target().startswith("windows") else "mlg"
        return [
            *super().get_outputs(include_bytecode),
            str(Path(self.build_lib) / "mlgkernel" / "bin" / name),
        ]


def build(folder, version):
    """Builds the program into a folder; it tells the version of the package."""
    system, machine = target().split("/")
    go = os.environ.get("MLG_GO", "go")
    if shutil.which(go) is None:
        raise SystemExit("building mlgkernel from source needs Go 1.26 or newer; the wheels do not")
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / ("mlg.exe" if system == "windows" else "mlg")
    env = dict(os.environ, CGO_ENABLED="0", GOOS=system, GOARCH=machine)
    flags = f"-ldflags=-s -w -X github.com/mlgkernel/mlg/internal/cli.release={version}"
    command = [go, "build", "-buildvcs=false", flags, "-o", str(out), "./cmd/mlg"]
    if "MLG_TARGET" in os.environ:  # for others: without paths of this machine
        command.insert(2, "-trimpath")
    subprocess.run(command, cwd=sources(), env=env, check=True)


class Wheel(bdist_wheel):
    """Tags the wheel: any Python 3, one system."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", TAGS.get(target()) or super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


class Source(sdist):
    """Adds the Go sources, so that a source distribution can be built by itself."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        root = sources()
        for path in go_files(root):
            to = Path(base_dir) / "go" / path.relative_to(root)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)


def go_files(root):
    """Yields what `go build ./cmd/mlg` needs: modules, Go and assembly files, embedded data."""
    yield from (root / "go.mod", root / "go.sum", root / "LICENSE")
    command = [
        os.environ.get("MLG_GO", "go"),
        "list",
        "-deps",
        "-f",
        "{{if and .Module .Module.Main}}{{.Dir}}{{end}}",
        "./cmd/mlg",
    ]
    out = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    for folder in map(Path, sorted(set(out.split()))):
        for path in sorted(folder.iterdir()):
            if path.suffix in (".go", ".s") and not path.name.endswith("_test.go"):
                yield path
        embedded = subprocess.run(
            [command[0], "list", "-f", '{{join .EmbedFiles "\\n"}}', "."],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        yield from (folder / name for name in embedded.splitlines() if name)


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel, "sdist": Source}, distclass=Binary)
