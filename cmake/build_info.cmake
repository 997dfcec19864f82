# Tells cli/ what it was built as. A generated header and not a command-line
# definition, so that a new version recompiles only the files that include it.
set(TIDEMARK_COMPILER "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
# Of the version, for the man pages; not of the build, which must be repeatable.
set(TIDEMARK_RELEASE_DATE "2026-11-15")
set(TIDEMARK_STATIC false)
if(CMAKE_EXE_LINKER_FLAGS MATCHES "(^| )-static( |$)")
  set(TIDEMARK_STATIC true)
endif()
set(TIDEMARK_HAS_BPF false)
if(TIDEMARK_BPF)
  set(TIDEMARK_HAS_BPF true)
endif()
set(TIDEMARK_PAGE_FILE "")
set(TIDEMARK_PAGE_MAKER "")
if(TIDEMARK_CHECKOUT)
  set(TIDEMARK_PAGE_FILE ${PROJECT_BINARY_DIR}/page.html)
  set(TIDEMARK_PAGE_MAKER ${PROJECT_SOURCE_DIR}/packaging/page.sh)
endif()
configure_file(
  ${PROJECT_SOURCE_DIR}/cmake/build_info.h.in
  ${PROJECT_BINARY_DIR}/generated/cli/build_info.h @ONLY)
target_include_directories(
  tidemark_cli PUBLIC ${PROJECT_BINARY_DIR}/generated)
