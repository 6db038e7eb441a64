# SPDX-License-Identifier: MIT
# The system's Boost headers under the name, options and component that the public centre's recipe has.
from conan import ConanFile


class SystemBoost(ConanFile):
    name = "boost"
    package_type = "header-library"
    license = "BSL-1.0"
    options = {"header_only": [True]}
    default_options = {"header_only": True}

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "Boost")
        headers = self.cpp_info.components["headers"]
        headers.set_property("cmake_target_name", "Boost::headers")
        headers.includedirs = []  # on every compiler's path already
        headers.bindirs = []
        headers.libdirs = []
