# SPDX-License-Identifier: MIT
# sandbench as a Conan 2 package: its headers, one component a layer. The tools are built by `make install`.
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout

required_conan_version = ">=2.1"

# What a layer needs from outside. cmake/SbLayers.cmake says the same; tests/conan/run.sh holds them together.
OUTSIDE = {"core": ["boost::headers"], "filter": ["libseccomp::libseccomp"], "views": ["range-v3::range-v3"], "yaml": ["yaml-cpp::yaml-cpp"]}
SYSTEM_LIBS = {"track": ["pthread"]}


class SandbenchConan(ConanFile):
    name = "sandbench"
    description = "Run anything under controlled adversity, safely, and get a verdict that is honest"
    license = "MIT"
    topics = ("sandbox", "benchmark", "stress-testing", "statistics", "json-lines", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    # False: without the layer that pipes through range-v3, or the one that reads YAML, and without the library it needs
    options = {"with_views": [True, False], "with_yaml": [True, False]}
    default_options = {"with_views": True, "with_yaml": True}
    exports = "docs/layers.txt"
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(sandbench VERSION ([0-9.]+)", text).group(1)

    def layout(self):
        basic_layout(self, src_folder=".")

    def requirements(self):
        self.requires("boost/[>=1.81.0 <2]", transitive_headers=True, options={"header_only": True})
        self.requires("libseccomp/[>=2.5.0 <3]", transitive_headers=True, transitive_libs=True)
        if self.options.with_views:
            self.requires("range-v3/[>=0.12.0 <1]", transitive_headers=True)
        if self.options.with_yaml:
            self.requires("yaml-cpp/[>=0.7.0 <1]", transitive_headers=True, transitive_libs=True)

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
        edges = re.findall(r"^([a-z]+) -> ([a-z]+)", load(self, os.path.join(self.recipe_folder, "docs/layers.txt")), re.M)
        for layer in dict.fromkeys(["core"] + [end for edge in edges for end in edge]):
            if layer in ("views", "yaml") and not self.options.get_safe(f"with_{layer}"):
                continue
            component = self.cpp_info.components[layer]
            component.set_property("cmake_target_name", f"sandbench::{layer}")
            component.set_property("pkg_config_name", f"sandbench-{layer}")
            component.requires = [to for start, to in edges if start == layer] + OUTSIDE.get(layer, [])
            component.system_libs = SYSTEM_LIBS.get(layer, []) if self.settings.os in ("Linux", "FreeBSD") else []
            component.bindirs = []
            component.libdirs = []
