# SPDX-License-Identifier: MIT
# Probes: programs that try to get out, a witness that judges them, controls that show them able to succeed.
option(SB_PROBES "Run the probes and victims against the sandbox in CTest" ON)

# the probe runs in any root: static, and without what a sanitizer would add to it
add_executable(sb_probe probes/main.cpp probes/exhaust.cpp probes/outlive.cpp probes/speak.cpp probes/see.cpp probes/call.cpp probes/escape.cpp
               probes/connect.cpp probes/litter.cpp probes/charge.cpp probes/folder.cpp probes/forge.cpp probes/quota.cpp probes/sight.cpp probes/tables.cpp)
target_compile_features(sb_probe PRIVATE cxx_std_20)
target_include_directories(sb_probe PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(sb_probe PRIVATE sb_developer -static)
if(SB_SANITIZE)
  target_compile_options(sb_probe PRIVATE -fno-sanitize=all)
  target_link_options(sb_probe PRIVATE -fno-sanitize=all)
endif()
add_executable(sb_witness probes/witness.cpp)
target_link_libraries(sb_witness PRIVATE sandbench::files sandbench::process sandbench::json sb_developer)
set_target_properties(sb_probe PROPERTIES OUTPUT_NAME sb-probe RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/probes")
set_target_properties(sb_witness PROPERTIES OUTPUT_NAME sb-witness RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/probes")

if(SB_BUILD_TOOLS)
  set(sb_run_probes "${CMAKE_CURRENT_SOURCE_DIR}/probes/run.sh" --bin "${PROJECT_BINARY_DIR}/bin")
  add_test(NAME probes/page COMMAND ${sb_run_probes} --check-page)
  add_test(NAME probes/may-skip-fails COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/probes/may_skip_fails.sh" "${PROJECT_BINARY_DIR}/bin")
  add_test(NAME probes/controls COMMAND ${sb_run_probes} --controls)
  add_test(NAME probes/controls-as-nobody COMMAND ${sb_run_probes} --nobody --controls)
  if(SB_PROBES)
    add_test(NAME probes/held COMMAND ${sb_run_probes})
    add_test(NAME probes/held-as-nobody COMMAND ${sb_run_probes} --nobody)
    set_tests_properties(probes/held probes/held-as-nobody PROPERTIES RUN_SERIAL ON LABELS slow TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
  set_tests_properties(probes/controls probes/controls-as-nobody PROPERTIES RUN_SERIAL ON LABELS slow SKIP_RETURN_CODE 77)
endif()
