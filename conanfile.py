# SPDX-License-Identifier: MIT
# sandbench as a Conan 2 package: its headers, one component a layer. The tools are built by `make install`.
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout

required_conan_version = ">=2.1"


def table(recipe, name):
    """The lines of a table in docs/ that are no comments."""
    return [line for line in load(recipe, os.path.join(recipe.recipe_folder, "docs", name)).splitlines() if line and line[0] != "#"]


def libraries(recipe):
    """What docs/dependencies.txt says of libraries: the layers that need it, Conan's name, component and versions, a flag."""
    for row in (line.split("|") for line in table(recipe, "dependencies.txt")):
        if len(row) > 4 and row[4]:
            package, layers, target, versions, pc = row[2], row[4].split(), row[5].lower(), row[7].split(), row[8]
            yield package.endswith("*"), layers, target.split("::")[0], target if "::" in target else f"{target}::{target}", versions, pc


class SandbenchConan(ConanFile):
    name = "sandbench"
    description = "Run anything under controlled adversity, safely, and get a verdict that is honest"
    license = "MIT"
    topics = ("sandbox", "benchmark", "stress-testing", "statistics", "json-lines", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"with_yaml": [True, False]} # False: without the layer that reads YAML, and the library that it needs
    default_options = {"with_yaml": True}
    exports = "docs/layers.txt", "docs/dependencies.txt"
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(sandbench VERSION ([0-9.]+)", text).group(1)

    def layout(self):
        basic_layout(self, src_folder=".")

    def has(self, layer):
        return self.options.get_safe(f"with_{layer}", True)

    def requirements(self):
        for headers_only, layers, name, _, versions, _ in libraries(self):
            if versions and any(self.has(layer) for layer in layers):
                self.requires(f"{name}/[>={versions[0]} <{versions[1]}]", transitive_headers=True, transitive_libs=not headers_only,
                              options={"header_only": True} if name == "boost" else None)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "sandbench")
        self.cpp_info.set_property("cmake_target_name", "sandbench::sandbench")
        self.cpp_info.set_property("pkg_config_name", "sandbench")
        edges = [line.split()[:3:2] for line in table(self, "layers.txt")]
        for layer in dict.fromkeys(["core"] + [end for edge in edges for end in edge]):
            if not self.has(layer):
                continue
            component = self.cpp_info.components[layer]
            component.set_property("cmake_target_name", f"sandbench::{layer}")
            component.set_property("pkg_config_name", f"sandbench-{layer}")
            component.requires = [to for start, to in edges if start == layer]
            component.bindirs = []
            component.libdirs = []
            for _, layers, _, target, versions, flag in libraries(self):
                if layer in layers and versions:
                    component.requires.append(target)
                elif layer in layers and self.settings.os in ("Linux", "FreeBSD"):
                    component.system_libs.append(flag.removeprefix("-"))
