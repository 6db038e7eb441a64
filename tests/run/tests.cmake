# SPDX-License-Identifier: MIT
if(SB_BUILD_TOOLS)
  add_test(NAME run/kill_resume COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run/kill_resume.sh" "${PROJECT_BINARY_DIR}/bin")
  add_test(NAME run/doubts COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run/doubts.sh" "${PROJECT_BINARY_DIR}/bin")
  set_tests_properties(run/doubts PROPERTIES RUN_SERIAL ON SKIP_RETURN_CODE 77) # it makes work for all processors
  foreach(name layers_truth workspace_safe sources ends stuck kept bind_advice)
    set(script "${CMAKE_CURRENT_SOURCE_DIR}/run/${name}.sh")
    add_test(NAME run/${name} COMMAND "${script}" "${PROJECT_BINARY_DIR}/bin")
    if(name STREQUAL bind_advice) # has to be below a /opt of its own
      add_test(NAME run/${name}-as-nobody COMMAND "${script}" "${PROJECT_BINARY_DIR}/bin" --nobody)
    else()
      add_test(NAME run/${name}-as-nobody COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/run/as_nobody.sh" "${script}" "${PROJECT_BINARY_DIR}/bin")
    endif()
    set_tests_properties(run/${name} run/${name}-as-nobody PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()
