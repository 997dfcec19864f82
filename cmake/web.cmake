# Bundles web/ into one HTML file and wraps it into the header
# view/embedded/page.h. Built, never committed.
#
# With TIDEMARK_WEB=OFF the page is empty, and what needs it says so. With
# TIDEMARK_CHECKOUT it is a file beside the build, which is made when it is first
# asked for: most people never do, and Node brings 369 packages. With TIDEMARK_PAGE
# it was bundled elsewhere: those who build packages have no network to get what
# bundling needs, and no Node for another machine.

set(page_header ${PROJECT_BINARY_DIR}/generated/view/embedded/page.h)

# The empty one is newer than what the other is made of, and would stay when the
# option is turned on again.
set(no_page ${PROJECT_BINARY_DIR}/generated/no_page)
if(TIDEMARK_WEB AND NOT TIDEMARK_CHECKOUT AND EXISTS ${no_page})
  file(REMOVE ${page_header} ${no_page})
endif()

if(NOT TIDEMARK_WEB OR TIDEMARK_CHECKOUT)
  file(TOUCH ${no_page})
  file(
    CONFIGURE
    OUTPUT ${page_header}
    CONTENT
      "#pragma once

#include <array>
#include <string_view>

namespace tidemark::view {

inline constexpr std::array<std::string_view, 0> kPageParts = {};

}  // namespace tidemark::view
")
elseif(TIDEMARK_PAGE)
  configure_file(${TIDEMARK_PAGE} ${page_header} COPYONLY)
else()
  find_program(TIDEMARK_NODE NAMES node nodejs)
  if(NOT TIDEMARK_NODE)
    message(FATAL_ERROR "The browser front end needs Node 18 or newer. Install "
                        "the packages nodejs and npm, or configure with -D TIDEMARK_WEB=OFF.")
  endif()
  set(web ${PROJECT_SOURCE_DIR}/web)
  if(NOT EXISTS ${web}/node_modules/esbuild)
    message(FATAL_ERROR "The browser front end needs its packages: run `npm ci` "
                        "in web/, or configure with -D TIDEMARK_WEB=OFF.")
  endif()
  file(GLOB web_sources CONFIGURE_DEPENDS ${web}/src/*)
  add_custom_command(
    OUTPUT ${page_header}
    COMMAND ${TIDEMARK_NODE} ${web}/build.mjs ${PROJECT_BINARY_DIR}/generated/page.html
            ${page_header}
    DEPENDS ${web_sources} ${web}/build.mjs ${web}/package-lock.json
    COMMENT "Bundling the browser front end"
    VERBATIM)
  target_sources(tidemark_view PRIVATE ${page_header})
  add_custom_target(tidemark_page DEPENDS ${page_header})
endif()
target_include_directories(tidemark_view PUBLIC ${PROJECT_BINARY_DIR}/generated)
