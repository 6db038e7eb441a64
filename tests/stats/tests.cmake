# SPDX-License-Identifier: MIT
add_test(NAME stats/table COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/stats/table.sh")
if(SB_BUILD_TOOLS)
  add_test(NAME stats/traps COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/stats/traps.sh" "${PROJECT_BINARY_DIR}/bin")
  set_tests_properties(stats/traps PROPERTIES SKIP_RETURN_CODE 77)
endif()
