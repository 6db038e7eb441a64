# SPDX-License-Identifier: MIT
# libseccomp: headers and library, as the target libseccomp::libseccomp. Upstream installs a pkg-config file only.
# libseccomp_USE_STATIC: the archive, which static tools need.
find_path(libseccomp_INCLUDE_DIR seccomp.h)
if(libseccomp_USE_STATIC)
  find_library(libseccomp_LIBRARY NAMES libseccomp.a)
else()
  find_library(libseccomp_LIBRARY NAMES seccomp)
endif()
mark_as_advanced(libseccomp_INCLUDE_DIR libseccomp_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libseccomp REQUIRED_VARS libseccomp_LIBRARY libseccomp_INCLUDE_DIR)
if(libseccomp_FOUND AND NOT TARGET libseccomp::libseccomp)
  add_library(libseccomp::libseccomp UNKNOWN IMPORTED)
  set_target_properties(libseccomp::libseccomp PROPERTIES
    IMPORTED_LOCATION "${libseccomp_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${libseccomp_INCLUDE_DIR}")
endif()
