# SPDX-License-Identifier: MIT
# The system's yaml-cpp under the name that the public centre's recipe has.
from conan import ConanFile


class SystemYamlCpp(ConanFile):
    name = "yaml-cpp"
    package_type = "shared-library"
    license = "MIT"
    settings = "os", "arch", "compiler", "build_type"

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "yaml-cpp")
        self.cpp_info.set_property("cmake_target_name", "yaml-cpp")
        self.cpp_info.set_property("pkg_config_name", "yaml-cpp")
        self.cpp_info.includedirs = []  # on every compiler's path already
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = ["yaml-cpp"]
