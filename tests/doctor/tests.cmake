# SPDX-License-Identifier: MIT
# Hosts that lack something: sb-doctor says what, sb-exec refuses in one line. What the virtual machine shows is advice.sh.
if(SB_BUILD_TOOLS)
  add_executable(sb_forbid "${CMAKE_CURRENT_SOURCE_DIR}/doctor/forbid.cpp")
  target_compile_features(sb_forbid PRIVATE cxx_std_20)
  target_link_libraries(sb_forbid PRIVATE sb_developer)
  if(SB_SANITIZE)
    target_compile_options(sb_forbid PRIVATE -fno-sanitize=all)
    target_link_options(sb_forbid PRIVATE -fno-sanitize=all)
  endif()
  set_target_properties(sb_forbid PROPERTIES OUTPUT_NAME forbid RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/doctor")
  add_test(NAME doctor/crippled COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/doctor/crippled.sh" "${PROJECT_BINARY_DIR}/bin")
  # alone: a control group that it did not find before is one that it left
  set_tests_properties(doctor/crippled PROPERTIES SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
endif()
