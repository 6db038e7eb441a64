# SPDX-License-Identifier: MIT
if(SB_BUILD_TOOLS)
  add_test(NAME stats/traps COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/stats/traps.sh" "${PROJECT_BINARY_DIR}/bin")
  set_tests_properties(stats/traps PROPERTIES SKIP_RETURN_CODE 77)
endif()
