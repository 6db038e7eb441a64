# SPDX-License-Identifier: MIT
# What looks at the tree and at the tools as a whole.
set(sb_meta "${CMAKE_CURRENT_SOURCE_DIR}/meta")
add_test(NAME meta/layers COMMAND "${sb_meta}/layers.sh")
add_test(NAME meta/tree COMMAND "${sb_meta}/tree.sh")
add_test(NAME meta/embed COMMAND "${sb_meta}/embed.sh")
add_test(NAME meta/alone COMMAND "${sb_meta}/alone.sh" "${CMAKE_CXX_COMPILER}")

add_executable(schemas meta/schemas.cpp)
target_link_libraries(schemas PRIVATE sandbench::record sandbench::json sb_developer)
add_test(NAME meta/schemas COMMAND schemas "${PROJECT_SOURCE_DIR}/docs/schema")

if(SB_BUILD_TOOLS)
  add_test(NAME meta/reference COMMAND "${sb_meta}/reference.sh" "${PROJECT_BINARY_DIR}/bin")
  add_test(NAME meta/agree COMMAND "${sb_meta}/agree.sh" "${PROJECT_BINARY_DIR}/bin")
  add_test(NAME meta/agree_fails COMMAND "${sb_meta}/agree_fails.sh" "${PROJECT_BINARY_DIR}/bin")
  if(SB_STATIC)
    add_test(NAME meta/start COMMAND "${sb_meta}/start.sh" "${PROJECT_BINARY_DIR}/bin" "${CMAKE_CXX_COMPILER}")
    set_tests_properties(meta/start PROPERTIES SKIP_RETURN_CODE 77)
  endif()
  foreach(tool IN LISTS SB_TOOLS)
    add_test(NAME "examples/${tool}" COMMAND "${sb_meta}/examples.sh" "${PROJECT_BINARY_DIR}/bin" ${tool})
  endforeach()
endif()
