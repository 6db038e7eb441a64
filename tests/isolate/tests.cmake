# SPDX-License-Identifier: MIT
# What root's test program has shown of boxes is shown once more for a user without rights.
if(TARGET isolate_test)
  add_test(NAME isolate/box-as-nobody COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/isolate/box_as_nobody.sh" $<TARGET_FILE:isolate_test> "${PROJECT_BINARY_DIR}/victims")
  set_tests_properties(isolate/box-as-nobody PROPERTIES SKIP_RETURN_CODE 77)
endif()
