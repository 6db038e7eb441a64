# SPDX-License-Identifier: MIT
# One interface target a layer, joined as docs/layers.txt says.
find_package(Boost 1.81 REQUIRED CONFIG)
find_package(Threads REQUIRED)

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/layers.txt")
file(STRINGS "${PROJECT_SOURCE_DIR}/docs/layers.txt" sb_edges REGEX "^[a-z]+ -> [a-z]+")
file(GLOB SB_LAYERS CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include/sb" "${PROJECT_SOURCE_DIR}/include/sb/*")

foreach(layer IN LISTS SB_LAYERS)
  add_library(sb_${layer} INTERFACE)
  add_library(sandbench::${layer} ALIAS sb_${layer})
  set_target_properties(sb_${layer} PROPERTIES EXPORT_NAME ${layer})
  target_compile_features(sb_${layer} INTERFACE cxx_std_20)
  target_include_directories(sb_${layer} INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
endforeach()
foreach(edge IN LISTS sb_edges)
  string(REGEX MATCH "^([a-z]+) -> ([a-z]+)" _ "${edge}")
  target_link_libraries(sb_${CMAKE_MATCH_1} INTERFACE sb_${CMAKE_MATCH_2})
endforeach()
target_link_libraries(sb_core INTERFACE Boost::headers)
target_link_libraries(sb_track INTERFACE Threads::Threads)
# our tools choose the archive of yaml-cpp themselves; everyone else links what their yaml-cpp package offers
target_link_libraries(sb_yaml INTERFACE $<INSTALL_INTERFACE:yaml-cpp>)
if(NOT PROJECT_IS_TOP_LEVEL)
  find_package(yaml-cpp QUIET)
  if(TARGET yaml-cpp)
    target_link_libraries(sb_yaml INTERFACE $<BUILD_INTERFACE:yaml-cpp>)
  endif()
endif()

add_library(sb_all INTERFACE)
add_library(sandbench::sandbench ALIAS sb_all)
set_target_properties(sb_all PROPERTIES EXPORT_NAME sandbench)
foreach(layer IN LISTS SB_LAYERS)
  target_link_libraries(sb_all INTERFACE sb_${layer})
endforeach()
