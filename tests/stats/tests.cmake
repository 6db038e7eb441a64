# SPDX-License-Identifier: MIT
# the same answers without the vectors of newer processors, and without the widest
foreach(cpu IN ITEMS plain avx2)
  add_test(NAME stats/on-${cpu} COMMAND stats_test)
  set_tests_properties(stats/on-${cpu} PROPERTIES ENVIRONMENT "SB_CPU=${cpu}")
endforeach()
if(SB_SANITIZE) # minutes each; by day `stats` has a test that compares all instruction sets
  add_test(NAME stats/rates COMMAND stats_test "[rates]")
  set_tests_properties(stats/rates PROPERTIES ENVIRONMENT "SB_SHARED=${PROJECT_SOURCE_DIR}/../shared")
  set_tests_properties(stats/rates stats/on-plain stats/on-avx2 PROPERTIES LABELS night TIMEOUT 1800)
endif()
add_test(NAME stats/table COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/stats/table.sh")
if(SB_BUILD_TOOLS)
  add_test(NAME stats/traps COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/stats/traps.sh" "${PROJECT_BINARY_DIR}/bin")
  set_tests_properties(stats/traps PROPERTIES SKIP_RETURN_CODE 77)
endif()
