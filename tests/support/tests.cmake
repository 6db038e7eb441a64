# SPDX-License-Identifier: MIT
# What scripts ask the kernel with; they find it beside the tools, at $SB_BIN/../support/.
add_executable(sb_kernel_gives support/kernel_gives.cpp)
target_compile_features(sb_kernel_gives PRIVATE cxx_std_20)
target_include_directories(sb_kernel_gives PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_link_libraries(sb_kernel_gives PRIVATE sb_developer)
set_target_properties(sb_kernel_gives PROPERTIES OUTPUT_NAME kernel_gives RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/support")
