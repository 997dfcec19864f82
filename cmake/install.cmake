# The binary, its other name, and the pages it writes about itself.

install(TARGETS tidemark RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Called as memstat the binary takes that tool's manners.
install(
  CODE "file(CREATE_LINK tidemark
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/memstat\"
    SYMBOLIC)")

# And as memstrack those of that one; dracut's own module starts it by this
# name.
install(
  CODE "file(CREATE_LINK tidemark
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/memstrack\"
    SYMBOLIC)")

# dracut looks for modules in this one place, whatever the prefix: elsewhere it
# is there to be linked.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/packaging/dracut/99tidemark
        DESTINATION lib/dracut/modules.d USE_SOURCE_PERMISSIONS)

# Built into the binary too; here to be read and copied.
install(FILES ${PROJECT_SOURCE_DIR}/share/tidemark/buckets.json
              ${PROJECT_SOURCE_DIR}/share/tidemark/graph_schema.json
              ${PROJECT_SOURCE_DIR}/share/tidemark/perfetto.proto
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark)
# For those who feed Prometheus and Grafana with `tidemark metrics`.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/tidemark/prometheus
                  ${PROJECT_SOURCE_DIR}/share/tidemark/grafana
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark)

if(TIDEMARK_DOCS)
  set(share ${PROJECT_BINARY_DIR}/share)
  add_custom_command(
    OUTPUT ${share}/stamp
    COMMAND
      ${CMAKE_COMMAND} -D TIDEMARK=$<TARGET_FILE:tidemark> -D SHARE=${share} -P
      ${PROJECT_SOURCE_DIR}/cmake/write_docs.cmake
    DEPENDS tidemark ${PROJECT_SOURCE_DIR}/cmake/write_docs.cmake
    COMMENT "Writing man pages and completions")
  add_custom_target(docs ALL DEPENDS ${share}/stamp)

  install(DIRECTORY ${share}/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  set(data ${CMAKE_INSTALL_DATADIR})
  install(FILES ${share}/completions/tidemark.bash
          DESTINATION ${data}/bash-completion/completions RENAME tidemark)
  install(FILES ${share}/completions/_tidemark
          DESTINATION ${data}/zsh/site-functions)
  install(FILES ${share}/completions/tidemark.fish
          DESTINATION ${data}/fish/vendor_completions.d)
endif()
