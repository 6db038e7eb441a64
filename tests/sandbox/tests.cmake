# SPDX-License-Identifier: MIT
# What root's test programs have shown of sandboxes is shown once more for a user without rights.
foreach(layer process machine cgroup watch sandbox local doctor)
  if(TARGET ${layer}_test)
    add_test(NAME ${layer}/sandbox-as-nobody COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/sandbox/as_nobody.sh" $<TARGET_FILE:${layer}_test> "${PROJECT_BINARY_DIR}/victims")
    set_tests_properties(${layer}/sandbox-as-nobody PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endforeach()
