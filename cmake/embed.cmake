# tidemark_embed(ROOM FILE CONSTANT): the text of FILE as the string_view
# CONSTANT of namespace tidemark::ROOM, in the generated header
# ROOM/embedded/STEM.h, where STEM is the file's. What is installed under share/ is built in as well,
# so that the binary alone works.
function(tidemark_embed room file constant)
  set(path ${PROJECT_SOURCE_DIR}/${file})
  set_property(
    DIRECTORY ${PROJECT_SOURCE_DIR}
    APPEND
    PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} TIDEMARK_EMBEDDED_TEXT)
  set(TIDEMARK_EMBEDDED_FILE ${file})
  set(TIDEMARK_EMBEDDED_ROOM ${room})
  set(TIDEMARK_EMBEDDED_CONSTANT ${constant})
  cmake_path(GET path STEM stem)
  configure_file(
    ${PROJECT_SOURCE_DIR}/cmake/embedded.h.in
    ${PROJECT_BINARY_DIR}/generated/${room}/embedded/${stem}.h @ONLY)
endfunction()

tidemark_embed(cli share/tidemark/buckets.json kBucketRules)
tidemark_embed(cli share/tidemark/graph_schema.json kGraphSchema)
