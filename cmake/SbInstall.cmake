# SPDX-License-Identifier: MIT
# What `cmake --install` lays down: headers, tools with what they say of themselves, a CMake package, pkg-config files.
# Everything but the tools is the same on every architecture, and the whole tree can be moved.
include(CMakePackageConfigHelpers)
option(SB_INSTALL "Rules to install sandbench" ${PROJECT_IS_TOP_LEVEL})
if(NOT SB_INSTALL)
  return()
endif()

set(sb_cmake_dir "${CMAKE_INSTALL_DATADIR}/cmake/sandbench")
set(sb_pkgconfig_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")

# Headers: a file set a layer, which CMAKE_VERIFY_INTERFACE_HEADER_SETS also compiles one by one.
foreach(layer IN LISTS SB_LAYERS)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/sb/${layer}/*.hpp")
  target_sources(sb_${layer} INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
  install(TARGETS sb_${layer} EXPORT sandbench FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endforeach()
if(CMAKE_VERIFY_INTERFACE_HEADER_SETS)
  add_compile_options("$<TARGET_PROPERTY:sb_developer,INTERFACE_COMPILE_OPTIONS>" -O0)
endif()
install(TARGETS sb_all EXPORT sandbench)
install(EXPORT sandbench NAMESPACE sandbench:: FILE sandbench-targets.cmake DESTINATION "${sb_cmake_dir}")

# What a layer needs from outside, itself and through the layers below it: read from its target, so that it is said once.
function(sb_needs_of target out)
  set(seen "")
  set(needs "")
  set(queue ${target})
  while(queue)
    list(POP_FRONT queue target)
    if(target IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${target})
    get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
    list(FILTER links EXCLUDE REGEX "BUILD_INTERFACE")
    foreach(link IN LISTS links)
      string(REGEX REPLACE "^[$]<INSTALL_INTERFACE:(.+)>$" "\\1" link "${link}")
      if(link MATCHES "^sb_")
        list(APPEND queue ${link})
      elseif(link)
        list(APPEND needs ${link})
      endif()
    endforeach()
  endwhile()
  list(REMOVE_DUPLICATES needs)
  set(${out} "${needs}" PARENT_SCOPE)
endfunction()

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}/${sb_pkgconfig_dir}"
  OUTPUT_VARIABLE SB_PC_UP)
set(SB_PC_INCLUDE "\${prefix}")
cmake_path(APPEND SB_PC_INCLUDE "${CMAKE_INSTALL_INCLUDEDIR}")
set(outside "")
foreach(layer IN LISTS SB_LAYERS ITEMS all)
  sb_needs_of(sb_${layer} needs)
  set(requires "")
  set(libs "")
  foreach(need IN LISTS needs)
    if(NOT DEFINED sb_find_${need})
      message(FATAL_ERROR "layer ${layer} links ${need}, which is not in docs/dependencies.txt")
    endif()
    list(APPEND outside ${need})
    list(APPEND sb_layers_of_${need} ${layer})
    if(sb_pc_${need} MATCHES "^-")
      list(APPEND libs ${sb_pc_${need}})
    else() # the headers of Boost and range-v3 have no .pc file
      list(APPEND requires ${sb_pc_${need}})
    endif()
  endforeach()

  set(SB_PC_NAME sandbench-${layer})
  if(layer STREQUAL "all")
    set(SB_PC_NAME sandbench)
  endif()
  list(JOIN requires ", " SB_PC_REQUIRES)
  list(JOIN libs " " SB_PC_LIBS)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/sandbench.pc.in" "${PROJECT_BINARY_DIR}/pkgconfig/${SB_PC_NAME}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/${SB_PC_NAME}.pc" DESTINATION "${sb_pkgconfig_dir}")
endforeach()

set(SB_FIND_DEPENDENCIES "")
list(REMOVE_DUPLICATES outside)
foreach(need IN LISTS outside)
  list(JOIN sb_layers_of_${need} "|" layers)
  string(APPEND SB_FIND_DEPENDENCIES "if(sandbench_wanted MATCHES \";(${layers});\")\n  ${sb_find_${need}}\nendif()\n")
endforeach()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/sandbench-config.cmake.in"
  "${PROJECT_BINARY_DIR}/sandbench-config.cmake" INSTALL_DESTINATION "${sb_cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sandbench-config-version.cmake"
  COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/sandbench-config.cmake" "${PROJECT_BINARY_DIR}/sandbench-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/Findlibseccomp.cmake"
  DESTINATION "${sb_cmake_dir}")
if(EXISTS "${PROJECT_SOURCE_DIR}/docs/schema")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/schema/" DESTINATION "${CMAKE_INSTALL_DATADIR}/sb/schemas" FILES_MATCHING PATTERN "*.json")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Tools, and the manual, completions and schema that each prints of itself.
set(sb_share "${PROJECT_BINARY_DIR}/share")
set(sb_pages "")
foreach(tool IN LISTS SB_TOOLS)
  set(page "${sb_share}/man/man1/${tool}.1")
  add_custom_command(OUTPUT "${page}"
    COMMAND "${CMAKE_COMMAND}" "-DTOOL=$<TARGET_FILE:${tool}>" "-DNAME=${tool}" "-DSHARE=${sb_share}"
            -P "${PROJECT_SOURCE_DIR}/cmake/SbShare.cmake"
    DEPENDS ${tool} "${PROJECT_SOURCE_DIR}/cmake/SbShare.cmake"
    COMMENT "What ${tool} says of itself" VERBATIM)
  list(APPEND sb_pages "${page}")
endforeach()
add_custom_target(sb_product ALL DEPENDS ${SB_TOOLS} ${sb_pages})
if(SB_TOOLS)
  install(TARGETS ${SB_TOOLS} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(DIRECTORY "${sb_share}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}")
  install(DIRECTORY "${sb_share}/" DESTINATION "${CMAKE_INSTALL_DATADIR}" PATTERN man EXCLUDE)
endif()
