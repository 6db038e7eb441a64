# SPDX-License-Identifier: MIT
# The system's libseccomp under the name that the public centre's recipe has.
from conan import ConanFile


class SystemLibseccomp(ConanFile):
    name = "libseccomp"
    package_type = "shared-library"
    license = "LGPL-2.1-only"
    settings = "os", "arch", "compiler", "build_type"

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "libseccomp")
        self.cpp_info.set_property("cmake_target_name", "libseccomp::libseccomp")
        self.cpp_info.set_property("pkg_config_name", "libseccomp")
        self.cpp_info.includedirs = []  # on every compiler's path already
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = ["seccomp"]
