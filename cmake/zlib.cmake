# zlib for base/, as the target tidemark_zlib.
find_path(TIDEMARK_ZLIB_INCLUDE zlib.h)
tidemark_find_library(TIDEMARK_LIBZ z)
if(NOT TIDEMARK_LIBZ OR NOT TIDEMARK_ZLIB_INCLUDE)
  message(FATAL_ERROR "Pages with reports need the package zlib1g-dev.")
endif()
add_library(tidemark_zlib INTERFACE)
target_include_directories(
  tidemark_zlib SYSTEM INTERFACE ${TIDEMARK_ZLIB_INCLUDE})
target_link_libraries(tidemark_zlib INTERFACE ${TIDEMARK_LIBZ})
