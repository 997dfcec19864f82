# The binary, its other names, the pages it writes about itself, the services.

install(TARGETS tidemark RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Called by another name the binary takes that tool's manners. Distributions have
# tools of these names, so a package puts the links where nobody finds them by
# chance.
set(TIDEMARK_NAMES_DIR ${CMAKE_INSTALL_BINDIR} CACHE STRING
    "Where links by the names of other tools are installed")
set(other_names memstat memstrack)
file(RELATIVE_PATH to_binary /${TIDEMARK_NAMES_DIR}
     /${CMAKE_INSTALL_BINDIR}/tidemark)
foreach(name IN LISTS other_names)
  set(link ${PROJECT_BINARY_DIR}/names/${name})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/names)
  file(CREATE_LINK ${to_binary} ${link} SYMBOLIC)
  install(FILES ${link} DESTINATION ${TIDEMARK_NAMES_DIR})
endforeach()

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
              ${PROJECT_SOURCE_DIR}/share/tidemark/pprof.proto
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark)
# For those who read our JSON, and who feed Prometheus and Grafana with
# `tidemark metrics`.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/tidemark/schemas
                  ${PROJECT_SOURCE_DIR}/share/tidemark/prometheus
                  ${PROJECT_SOURCE_DIR}/share/tidemark/grafana
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tidemark)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/reading
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/docs/recording-format.md
              ${PROJECT_SOURCE_DIR}/docs/performance.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Services: installed, never enabled.
set(TIDEMARK_UNIT_DIR lib/systemd/system CACHE STRING
    "Where units of systemd are installed")
file(READ ${PROJECT_SOURCE_DIR}/packaging/systemd/sandbox.conf TIDEMARK_SANDBOX)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${PROJECT_SOURCE_DIR}/packaging/systemd/sandbox.conf)
foreach(service record metrics)
  set(unit tidemark-${service}.service)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/systemd/${unit}.in
                 ${PROJECT_BINARY_DIR}/systemd/${unit} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/systemd/${unit}
          DESTINATION ${TIDEMARK_UNIT_DIR})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/packaging/systemd/tidemark.default
        DESTINATION ${CMAKE_INSTALL_SYSCONFDIR}/default RENAME tidemark)

if(TIDEMARK_DOCS)
  set(share ${PROJECT_BINARY_DIR}/share)
  add_custom_command(
    OUTPUT ${share}/stamp
    COMMAND
      ${CMAKE_COMMAND} -D TIDEMARK=$<TARGET_FILE:tidemark> -D SHARE=${share} -D
      EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR} -P
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
