# SPDX-License-Identifier: MIT
# The programs that try to break limits; tests find them beside the tools, at $SB_BIN/../victims/victim.
add_executable(sb_victim "${CMAKE_CURRENT_SOURCE_DIR}/victims/victim.cpp")
target_link_libraries(sb_victim PRIVATE sb_developer)
if(SB_SANITIZE) # a victim is held to limits that a sanitizer's own memory would break
  target_compile_options(sb_victim PRIVATE -fno-sanitize=all)
  target_link_options(sb_victim PRIVATE -fno-sanitize=all)
endif()
set_target_properties(sb_victim PROPERTIES OUTPUT_NAME victim RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/victims")
foreach(user isolate_test run_test)
  if(TARGET ${user})
    add_dependencies(${user} sb_victim)
  endif()
endforeach()
