#include "source/perf_ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/fd.h"

namespace tidemark::source {
namespace {

constexpr size_t kBytes = 4096;

// What the kernel would map and write, in a file.
class RingWriter {
 public:
  RingWriter()
      : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))),
        file_(::memfd_create("ring", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(file_.get(), static_cast<off_t>(page_ + kBytes)), 0);
    void* at = ::mmap(nullptr, page_ + kBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED, file_.get(), 0);
    at_ = static_cast<char*>(at);
  }
  RingWriter(const RingWriter&) = delete;
  RingWriter& operator=(const RingWriter&) = delete;
  ~RingWriter() { ::munmap(at_, page_ + kBytes); }

  int fd() const { return file_.get(); }
  perf_event_mmap_page& control() {
    return *reinterpret_cast<perf_event_mmap_page*>(at_);
  }
  void put(uint16_t claimed_size, std::string body) {
    perf_event_header header{};
    header.size = claimed_size;
    std::string record(reinterpret_cast<const char*>(&header), sizeof header);
    record += body;
    for (char byte : record) {
      at_[page_ + control().data_head % kBytes] = byte;
      control().data_head += 1;
    }
  }
  void put(const std::string& body) {
    put(static_cast<uint16_t>(sizeof(perf_event_header) + body.size()), body);
  }

 private:
  size_t page_;
  base::Fd file_;
  char* at_ = nullptr;
};

std::vector<std::string> drained(PerfRing& ring) {
  std::vector<std::string> bodies;
  ring.drain([&](std::string_view record) {
    bodies.emplace_back(record.substr(sizeof(perf_event_header)));
  });
  return bodies;
}

TEST(PerfRing, HandsOverWhatIsThereAndGivesTheRoomBack) {
  RingWriter kernel;
  base::Result<PerfRing> ring = PerfRing::map(kernel.fd(), kBytes);
  ASSERT_TRUE(ring) << ring.error().what;
  EXPECT_TRUE(drained(*ring).empty());
  kernel.put("onerecrd");
  kernel.put("");
  kernel.put("another!another!");
  EXPECT_EQ(drained(*ring),
            (std::vector<std::string>{"onerecrd", "", "another!another!"}));
  EXPECT_EQ(kernel.control().data_tail, kernel.control().data_head);
  EXPECT_TRUE(drained(*ring).empty());
}

TEST(PerfRing, ARecordThatGoesOverTheEndIsPutTogether) {
  RingWriter kernel;
  base::Result<PerfRing> ring = PerfRing::map(kernel.fd(), kBytes);
  ASSERT_TRUE(ring) << ring.error().what;
  const std::string body(1000 - sizeof(perf_event_header), 'x');
  for (int i = 0; i < 40; ++i) {
    kernel.put(body + std::to_string(10 + i) + "......");
    EXPECT_EQ(
        drained(*ring),
        (std::vector<std::string>{body + std::to_string(10 + i) + "......"}))
        << i;
  }
}

TEST(PerfRing, WhatMakesNoSenseEndsTheRound) {
  for (uint16_t size : {uint16_t{0}, uint16_t{4}, uint16_t{4000}}) {
    RingWriter kernel;
    base::Result<PerfRing> ring = PerfRing::map(kernel.fd(), kBytes);
    ASSERT_TRUE(ring) << ring.error().what;
    kernel.put("good....");
    kernel.put(size, "bad.....");
    EXPECT_EQ(drained(*ring), std::vector<std::string>{"good...."});
    EXPECT_EQ(kernel.control().data_tail, kernel.control().data_head);
  }
}

TEST(PerfRing, SaysWhatItWouldNeed) {
  base::Result<PerfRing> ring = PerfRing::map(-1, kBytes);
  ASSERT_FALSE(ring);
  EXPECT_FALSE(ring.error().hint.empty());
}

}  // namespace
}  // namespace tidemark::source
