# SPDX-License-Identifier: MIT
# Included by tests/CMakeLists.txt: an installed, moved tree serves a stranger's project both ways.
if(NOT SB_SANITIZE)
  add_test(NAME consumer COMMAND "${PROJECT_SOURCE_DIR}/tests/consumer/run.sh" "${PROJECT_BINARY_DIR}")
  set_tests_properties(consumer PROPERTIES LABELS slow ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}" SKIP_RETURN_CODE 77)
endif()
