# SPDX-License-Identifier: MIT
# the layer leaves it to whoever links it which yaml-cpp that is
find_library(SB_YAML_CPP NAMES yaml-cpp REQUIRED)
target_link_libraries(yaml_test PRIVATE ${SB_YAML_CPP})
