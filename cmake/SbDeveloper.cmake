# SPDX-License-Identifier: MIT
# What our own sources are compiled with; nothing here reaches a consumer.
add_library(sb_developer INTERFACE)
target_compile_options(sb_developer INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  $<$<BOOL:${SB_WERROR}>:-Werror>)
# g++ 12 sees overlaps and overruns inside its own std::string that are not there (GCC bugs 105329, 105651)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(sb_developer INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
# ccache, where it is installed: what one clone of the tree has compiled is found by all. Nothing else may hash an absolute path.
# clang's precompiled headers name the files they are made of, so those of one clone would be read by another.
find_program(SB_CCACHE ccache)
mark_as_advanced(SB_CCACHE)
if(PROJECT_IS_TOP_LEVEL AND SB_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/ccache.sh" "${PROJECT_SOURCE_DIR}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)
  else()
    set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
  endif()
endif()
if(SB_SANITIZE)
  add_compile_options(-fsanitize=${SB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${SB_SANITIZE})
  set(SB_STATIC OFF)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # instrumented code hides from g++ what is initialised, in libstdc++'s own regex
    target_compile_options(sb_developer INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
