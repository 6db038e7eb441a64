# SPDX-License-Identifier: MIT
# Recipes, run on small data.
if(SB_BUILD_TOOLS)
  foreach(recipe IN ITEMS demo cycle)
    add_test(NAME recipes/${recipe} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/recipes/${recipe}.sh" "${PROJECT_BINARY_DIR}/bin")
  endforeach()
endif()
