# SPDX-License-Identifier: MIT
# Included by tests/CMakeLists.txt: the map of the predecessor's names is current, complete, and true of the tools.
add_test(NAME names/page COMMAND "${PROJECT_SOURCE_DIR}/scripts/names" --check)
add_test(NAME names/complete COMMAND "${PROJECT_SOURCE_DIR}/tests/names/complete.sh" "${PROJECT_SOURCE_DIR}/../shared/seeds")
set_tests_properties(names/complete PROPERTIES SKIP_RETURN_CODE 77)
if(SB_BUILD_TOOLS)
  add_test(NAME names/read-back COMMAND "${PROJECT_SOURCE_DIR}/tests/names/read_back.sh" "${PROJECT_BINARY_DIR}/bin")
  add_test(NAME names/wrong-rows-are-seen COMMAND "${PROJECT_SOURCE_DIR}/tests/names/wrong_rows.sh" "${PROJECT_BINARY_DIR}/bin")
endif()
