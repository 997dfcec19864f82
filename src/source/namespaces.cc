#include "source/namespaces.h"

#include <sched.h>

#include <cerrno>
#include <thread>

#include "parse/object_files.h"

namespace tidemark::source {

base::Result<uint64_t> read_namespace(const base::Directory& process,
                                      const std::string& type) {
  base::Result<std::string> link = base::read_link_at(process, "ns/" + type);
  if (!link) return link.error();
  const parse::DescriptorLink parsed = parse::parse_descriptor_link(*link);
  if (parsed.type != parse::DescriptorLink::Type::Namespace) {
    return base::fail(base::ErrorKind::Malformed,
                      process.join("ns/" + type) + ": no namespace");
  }
  return parsed.inode_id;
}

base::Status within_namespace(const base::Directory& process,
                              const std::string& type,
                              const std::function<void()>& work) {
  base::Result<base::Fd> fd = base::open_file_at(process, "ns/" + type);
  if (!fd) return fd.error();
  int err = 0;
  std::thread thread([&] {
    if (::setns(fd->get(), 0) != 0) {
      err = errno;
    } else {
      work();
    }
  });
  thread.join();
  if (err == 0) return base::Ok{};
  return base::fail_errno("entering " + process.join("ns/" + type), err);
}

}  // namespace tidemark::source
