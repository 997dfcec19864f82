# Compiles bpf/*.bpf.c and wraps each into a skeleton header for source/bpf.
# Built, never committed: the object is tied to nothing but the compiler, the
# running kernel's layout is patched in when it is loaded (CO-RE).
#
# Gives the interface library tidemark_bpf, or nothing when TIDEMARK_BPF is OFF.

if(NOT TIDEMARK_BPF)
  return()
endif()

find_program(TIDEMARK_BPF_CLANG NAMES clang clang-14 clang-15 clang-16)
# Debian keeps it in sbin, which is not in every user's path.
find_program(TIDEMARK_BPFTOOL NAMES bpftool HINTS /usr/sbin /sbin)
find_path(TIDEMARK_LIBBPF_INCLUDE bpf/libbpf.h)
tidemark_find_library(TIDEMARK_LIBBPF bpf)
tidemark_find_library(TIDEMARK_LIBELF elf)
foreach(need CLANG:TIDEMARK_BPF_CLANG:clang BPFTOOL:TIDEMARK_BPFTOOL:bpftool
             LIBBPF:TIDEMARK_LIBBPF:libbpf-dev LIBELF:TIDEMARK_LIBELF:libelf-dev)
  string(REPLACE ":" ";" need ${need})
  list(GET need 1 variable)
  list(GET need 2 package)
  if(NOT ${variable})
    message(
      FATAL_ERROR
        "The BPF programs need the package ${package}. "
        "Install it, or configure with -D TIDEMARK_BPF=OFF.")
  endif()
endforeach()

string(REGEX REPLACE "^(x86_64|amd64|AMD64)$" "x86" bpf_arch
                     "${CMAKE_SYSTEM_PROCESSOR}")
string(REGEX REPLACE "^(aarch64|arm64)$" "arm64" bpf_arch "${bpf_arch}")

add_library(tidemark_bpf INTERFACE)
set(bpf_output ${PROJECT_BINARY_DIR}/generated/bpf)
file(MAKE_DIRECTORY ${bpf_output})
file(GLOB bpf_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bpf/*.bpf.c)
# Loaded by the kernel alone, without libbpf reading the kernel's types first.
set(bpf_light objects)
file(GLOB bpf_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bpf/*.h)
foreach(source IN LISTS bpf_sources)
  cmake_path(GET source STEM name)
  set(object ${bpf_output}/${name}.bpf.o)
  set(skeleton ${bpf_output}/${name}.skel.h)
  set(form)
  set(mend)
  if(name IN_LIST bpf_light)
    set(form --use-loader)
    # What bpftool 7.1 writes is C and not C++.
    set(mend
        COMMAND
        sed -i -e "s/= skel_alloc(/= (struct ${name}_bpf *)skel_alloc(/" -e
        "s/(void [*])&skel->links - (void [*])skel/(char *)\\&skel->links - (char *)skel/"
        ${skeleton})
  endif()
  add_custom_command(
    OUTPUT ${skeleton}
    COMMAND
      ${TIDEMARK_BPF_CLANG} -target bpf -mcpu=v3 -g -O2 -Wall -Wextra
      -Wno-unused-parameter -Werror -D__TARGET_ARCH_${bpf_arch}
      -I ${TIDEMARK_LIBBPF_INCLUDE}
      -isystem /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
      -c ${source} -o ${object}.full
    # Only BTF stays; the rest of the debug information is ten times the code.
    COMMAND ${TIDEMARK_BPFTOOL} gen object ${object} ${object}.full
    COMMAND ${TIDEMARK_BPFTOOL} ${form} gen skeleton ${object} name ${name}_bpf
            > ${skeleton} ${mend}
    DEPENDS ${source} ${bpf_headers}
    COMMENT "Compiling ${name}.bpf.c"
    VERBATIM)
  list(APPEND skeletons ${skeleton})
endforeach()
add_custom_target(tidemark_bpf_skeletons DEPENDS ${skeletons})
add_dependencies(tidemark_bpf tidemark_bpf_skeletons)
# <bpf/tree.skel.h> and <bpf/events.h> beside libbpf's own <bpf/…>.
target_include_directories(
  tidemark_bpf SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/generated
                                ${PROJECT_SOURCE_DIR} ${TIDEMARK_LIBBPF_INCLUDE})
target_link_libraries(
  tidemark_bpf INTERFACE ${TIDEMARK_LIBBPF} ${TIDEMARK_LIBELF} ${TIDEMARK_LIBZ})
