# SPDX-License-Identifier: MIT
# A library of the system's under the name, target and component that the public centre's recipe has: run.sh writes the words in
# capitals from docs/dependencies.txt.
from conan import ConanFile


class SystemLibrary(ConanFile):
    name = "NAME"
    settings = "os", "arch", "compiler", "build_type"
    options = {"header_only": [True, False]}
    default_options = {"header_only": HEADERS_ONLY}

    def package_info(self):
        package, _, component = "TARGET".partition("::")
        info = self.cpp_info if component in ("", package) else self.cpp_info.components[component]
        self.cpp_info.set_property("cmake_file_name", package)
        info.set_property("cmake_target_name", "TARGET")
        self.cpp_info.set_property("pkg_config_name", "PKG_CONFIG" or "NAME")
        info.includedirs = "INCLUDE".split()  # what is not there is on every compiler's path already
        info.bindirs = []
        info.libdirs = []
        info.system_libs = "LIBS".split()
