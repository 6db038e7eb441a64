# SPDX-License-Identifier: MIT
# One interface target a layer, joined as docs/layers.txt says, with the libraries that docs/dependencies.txt says.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/docs/layers.txt" "${PROJECT_SOURCE_DIR}/docs/dependencies.txt")
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

# What scripts/dependencies could not install, and unpacked. Static tools take the archive of libseccomp, sanitized and shared
# ones the library; find_library does not look again by itself.
if(PROJECT_IS_TOP_LEVEL)
  list(PREPEND CMAKE_PREFIX_PATH "${PROJECT_SOURCE_DIR}/build/deps/usr")
  set(libseccomp_USE_STATIC ${SB_STATIC})
  if(DEFINED CACHE{SB_STATIC_BEFORE} AND NOT SB_STATIC STREQUAL SB_STATIC_BEFORE)
    unset(libseccomp_LIBRARY CACHE)
  endif()
  set(SB_STATIC_BEFORE ${SB_STATIC} CACHE INTERNAL "Whether libseccomp was looked for as an archive")
endif()

# The libraries that layers need. Whoever takes this tree into a project of their own need not have those of layers they do not use;
# core is in all of them. SbInstall says the same to whoever uses an installed sandbench.
set(SB_LIBRARIES "")
file(STRINGS "${PROJECT_SOURCE_DIR}/docs/dependencies.txt" sb_rows REGEX "^[^#|]*[|][^|]*[|][^|]*[|][^|]*[|]")
foreach(row IN LISTS sb_rows)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 4 layers)
  list(GET row 5 library)
  list(GET row 6 how)
  list(GET row 8 pc)
  separate_arguments(layers)
  separate_arguments(arguments UNIX_COMMAND "${how}")
  set(needed QUIET)
  if(layers AND (PROJECT_IS_TOP_LEVEL OR "core" IN_LIST layers))
    set(needed REQUIRED)
  endif()
  find_package(${arguments} ${needed})
  list(APPEND SB_LIBRARIES ${library})
  set(sb_find_${library} "find_dependency(${how})")
  set(sb_pc_${library} "${pc}")
  foreach(layer IN LISTS layers)
    target_link_libraries(sb_${layer} INTERFACE $<INSTALL_INTERFACE:${library}>)
    # our own tools choose the archives of these themselves
    if(TARGET ${library} AND NOT (PROJECT_IS_TOP_LEVEL AND library MATCHES "^(yaml-cpp|simdjson::simdjson)$"))
      target_link_libraries(sb_${layer} INTERFACE $<BUILD_INTERFACE:${library}>)
    endif()
  endforeach()
endforeach()

# Debian has simdjson as a shared library alone. Our static tools take an archive, or the source that scripts/dependencies fetched.
find_library(SB_SIMDJSON_ARCHIVE NAMES libsimdjson.a)
mark_as_advanced(SB_SIMDJSON_ARCHIVE)
set(sb_simdjson simdjson::simdjson)
if(TARGET simdjson::simdjson AND SB_SIMDJSON_ARCHIVE) # found beside a shared library that find_package prefers, it is of no use
  get_target_property(kind simdjson::simdjson TYPE)
  if(kind STREQUAL "SHARED_LIBRARY")
    set(SB_SIMDJSON_ARCHIVE "")
  endif()
endif()
set(source "${PROJECT_SOURCE_DIR}/build/deps/simdjson")
file(GLOB found CONFIGURE_DEPENDS "${source}/simdjson.cpp") # it may come, go or change later
if(PROJECT_IS_TOP_LEVEL AND SB_STATIC AND NOT SB_SIMDJSON_ARCHIVE AND found)
  add_library(sb_simdjson STATIC EXCLUDE_FROM_ALL "${source}/simdjson.cpp")
  target_compile_options(sb_simdjson PRIVATE -ffunction-sections -fdata-sections)
  set_target_properties(sb_simdjson PROPERTIES CXX_CLANG_TIDY "") # not ours to tidy
  target_include_directories(sb_simdjson SYSTEM PUBLIC "${source}")
  set(sb_simdjson sb_simdjson)
  set(SB_SIMDJSON_ARCHIVE sb_simdjson)
endif()

# What of sb/json is compiled once (sb/json/compiled_once.hpp), for our own programs and for whoever takes the tree in as a folder;
# with an installed sandbench a program includes that header in one of its files.
if(TARGET simdjson::simdjson)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/json_source.cpp" CONTENT "#include <sb/json/compiled_once.hpp>\n")
  add_library(sb_json_source STATIC EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/json_source.cpp")
  target_compile_features(sb_json_source PRIVATE cxx_std_20)
  target_compile_options(sb_json_source PRIVATE -ffunction-sections -fdata-sections)
  target_include_directories(sb_json_source PRIVATE "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(sb_json_source PUBLIC Boost::headers ${sb_simdjson})
  foreach(layer IN ITEMS json record)
    target_link_libraries(sb_${layer} INTERFACE $<BUILD_INTERFACE:sb_json_source>)
  endforeach()
endif()

add_library(sb_all INTERFACE)
add_library(sandbench::sandbench ALIAS sb_all)
set_target_properties(sb_all PROPERTIES EXPORT_NAME sandbench)
foreach(layer IN LISTS SB_LAYERS)
  target_link_libraries(sb_all INTERFACE sb_${layer})
endforeach()
