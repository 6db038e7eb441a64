# SPDX-License-Identifier: MIT
# The system's range-v3 under the name that the public centre's recipe has.
from conan import ConanFile


class SystemRangeV3(ConanFile):
    name = "range-v3"
    package_type = "header-library"
    license = "BSL-1.0"

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "range-v3")
        self.cpp_info.set_property("cmake_target_name", "range-v3::range-v3")
        self.cpp_info.set_property("pkg_config_name", "range-v3")
        self.cpp_info.includedirs = []  # on every compiler's path already
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
