# SPDX-License-Identifier: MIT
# What the host looks like before and after: a witness over many runs, kills and neighbours.
add_executable(sb_kill_at "${CMAKE_CURRENT_SOURCE_DIR}/witness/kill_at.cpp")
target_compile_features(sb_kill_at PRIVATE cxx_std_20)
target_link_libraries(sb_kill_at PRIVATE sb_developer)
set_target_properties(sb_kill_at PROPERTIES OUTPUT_NAME kill_at RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/witness")
if(SB_BUILD_TOOLS AND NOT SB_SANITIZE) # a sanitizer's own files and processes would be seen
  set(sb_run_witness "${CMAKE_CURRENT_SOURCE_DIR}/witness/run.sh" --bin "${PROJECT_BINARY_DIR}/bin")
  add_test(NAME witness/short COMMAND ${sb_run_witness} --runs 60 --kills 8 --every 150)
  add_test(NAME witness/short-as-nobody COMMAND ${sb_run_witness} --nobody --runs 60 --kills 8 --every 150)
  set_tests_properties(witness/short witness/short-as-nobody PROPERTIES RUN_SERIAL ON LABELS slow TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()
