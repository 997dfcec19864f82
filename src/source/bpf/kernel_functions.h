// Functions of the kernel that programs can be hung on. Their names and
// arguments change between releases, and some kernels allow it for none.
#pragma once

#include <bpf/btf.h>

#include <initializer_list>
#include <memory>

namespace tidemark::source {

class KernelFunctions {
 public:
  // Reads the kernel's type information: 15 ms.
  KernelFunctions();

  // The first of the names that the kernel has, if a program may run when it
  // returns: found out by loading one that does nothing. Null: none may.
  const char* find(std::initializer_list<const char*> names) const;

 private:
  struct Free {
    void operator()(btf* types) const { btf__free(types); }
  };
  std::unique_ptr<btf, Free> types_;
};

}  // namespace tidemark::source
