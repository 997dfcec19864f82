# libdw for source/, as the target tidemark_libdw: unwinds stacks of programs and
# names their code. Without BPF nobody asks for it.
if(NOT TIDEMARK_BPF)
  return()
endif()

find_path(TIDEMARK_LIBDW_INCLUDE elfutils/libdwfl.h)
tidemark_find_library(TIDEMARK_LIBDW dw)
# What libdw reads compressed files with; they come with libdw-dev or need their own.
tidemark_find_library(TIDEMARK_LIBLZMA lzma)
tidemark_find_library(TIDEMARK_LIBBZ2 bz2)
foreach(need TIDEMARK_LIBDW:libdw-dev TIDEMARK_LIBDW_INCLUDE:libdw-dev
             TIDEMARK_LIBLZMA:liblzma-dev TIDEMARK_LIBBZ2:libbz2-dev)
  string(REPLACE ":" ";" need ${need})
  list(GET need 0 variable)
  list(GET need 1 package)
  if(NOT ${variable})
    message(
      FATAL_ERROR
        "Stacks of programs need the package ${package}. "
        "Install it, or configure with -D TIDEMARK_BPF=OFF.")
  endif()
endforeach()
add_library(tidemark_libdw INTERFACE)
target_include_directories(
  tidemark_libdw SYSTEM INTERFACE ${TIDEMARK_LIBDW_INCLUDE})
# libdw's optional client for debuginfod is reached through dlopen.
target_link_libraries(
  tidemark_libdw
  INTERFACE ${TIDEMARK_LIBDW} ${TIDEMARK_LIBELF} ${TIDEMARK_LIBLZMA}
            ${TIDEMARK_LIBBZ2} ${TIDEMARK_LIBZ} ${CMAKE_DL_LIBS})
