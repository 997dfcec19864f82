# tidemark_room(NAME [DEPENDS room…] [LIBRARIES target…] [PRIVATE target…]
#               [WITHOUT regex])
#
# PRIVATE targets are seen by the room's own files only; WITHOUT leaves files out
# that another build option brings in.
#
# One static library, tidemark_NAME, of everything under src/NAME. Which room
# may include which is checked by tests/layering, because all rooms share one
# include root and the compiler would not notice. A room without files is
# skipped, also as a dependency, so that the list of rooms can run ahead.
function(tidemark_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "WITHOUT" "DEPENDS;LIBRARIES;PRIVATE")
  set(root ${PROJECT_SOURCE_DIR}/src)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${root}/${name}/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${root}/${name}/*.h)
  list(REMOVE_ITEM sources ${root}/cli/main.cc)
  if(room_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "${room_WITHOUT}")
  endif()
  if(NOT sources AND NOT headers)
    return()
  endif()

  set(library tidemark_${name})
  set(visibility PUBLIC)
  if(sources)
    add_library(${library} STATIC ${sources})
  else()
    add_library(${library} INTERFACE)
    set(visibility INTERFACE)
  endif()
  # The file set makes CMake's target all_verify_interface_header_sets compile
  # every header alone; the dev preset builds it. It knows only what the room's
  # users know: not the private headers of BPF programs, nor what includes those.
  set(private "<bpf/")
  foreach(pass 1 2)
    foreach(header IN LISTS headers)
      file(STRINGS ${header} found REGEX "^#include (${private})" LIMIT_COUNT 1)
      if(found)
        list(REMOVE_ITEM headers ${header})
        cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${root})
        string(APPEND private "|\"${header}\"")
      endif()
    endforeach()
  endforeach()
  target_sources(
    ${library} ${visibility} FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers})
  set_target_properties(${library} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  if(TIDEMARK_JOINED AND sources)
    # A name in the unnamed namespaces of two files is then one too many, which
    # has shown more duplicates than it cost. Files with a BPF skeleton each have
    # a deleter of their own, and libdw's headers bring a hundred short names.
    set_target_properties(
      ${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
    set(alone ${sources})
    list(FILTER alone INCLUDE REGEX "/source/(bpf/|elf_names|user_unwinder)")
    set_source_files_properties(
      ${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  target_include_directories(${library} ${visibility} ${root})
  foreach(dependency IN LISTS room_DEPENDS)
    if(TARGET tidemark_${dependency})
      target_link_libraries(${library} ${visibility} tidemark_${dependency})
    endif()
  endforeach()
  target_link_libraries(${library} ${visibility} ${room_LIBRARIES})
  if(room_PRIVATE)
    target_link_libraries(${library} PRIVATE ${room_PRIVATE})
  endif()
  set_property(GLOBAL APPEND PROPERTY TIDEMARK_ROOMS ${name})
endfunction()
