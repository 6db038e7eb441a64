# SPDX-License-Identifier: MIT
if(SB_BUILD_TOOLS)
  add_test(NAME run/kill_resume COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run/kill_resume.sh" "${PROJECT_BINARY_DIR}/bin")
endif()
