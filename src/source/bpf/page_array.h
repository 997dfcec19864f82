// Where the array of the kernel's page structs is, for the programs of a
// tracer.
#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstdint>

#include "base/result.h"
#include "source/bpf/known_page.h"
#include "source/bpf/loading.h"

namespace tidemark::source {

// Runs its program that looks at a page of ours, and tells the others what it
// found. A skeleton is a type of its own, so this is a template.
template <typename Skeleton>
base::Status find_page_array(Skeleton& skeleton) {
  base::Result<KnownPage> page = KnownPage::make();
  if (!page) return page.error();
  skeleton.bss->known.fd = page->fd();
  bpf_test_run_opts options{};
  options.sz = sizeof options;
  const int fd = bpf_program__fd(skeleton.progs.look_around);
  if (bpf_prog_test_run_opts(fd, &options) != 0) {
    return bpf_error("cannot run a BPF program", errno);
  }
  base::Result<uint64_t> array = page->array_address(skeleton.bss->known);
  if (!array) return array.error();
  skeleton.bss->page_array = *array;
  if constexpr (requires { skeleton.data->page_struct_bytes; }) {
    skeleton.data->page_struct_bytes = skeleton.bss->known.page_struct_bytes;
  }
  return base::Ok{};
}

}  // namespace tidemark::source
