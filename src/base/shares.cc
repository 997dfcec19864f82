#include "base/shares.h"

#include <pthread.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace tidemark::base {
namespace {

constexpr size_t kMostThreads = 4;

struct Share {
  const std::function<void(size_t begin, size_t end)>& work;
  size_t begin = 0;
  size_t end = 0;
};

void* do_share(void* argument) {
  const auto& share = *static_cast<const Share*>(argument);
  share.work(share.begin, share.end);
  return nullptr;
}

// The first by the caller's thread; not std::thread, which ends the program
// where none may be started.
void do_all(std::vector<Share>& shares) {
  std::vector<pthread_t> threads;
  for (size_t i = 1; i < shares.size(); ++i) {
    pthread_t thread{};
    if (::pthread_create(&thread, nullptr, do_share, &shares[i]) != 0) break;
    threads.push_back(thread);
  }
  do_share(&shares[0]);
  for (size_t i = 1 + threads.size(); i < shares.size(); ++i)
    do_share(&shares[i]);
  for (pthread_t thread : threads)
    ::pthread_join(thread, nullptr);
}

}  // namespace

void in_shares(size_t count, size_t least_each,
               const std::function<void(size_t begin, size_t end)>& work) {
  const size_t cpus = std::max<size_t>(std::thread::hardware_concurrency(), 1);
  const size_t share_count = std::clamp<size_t>(
      count / std::max<size_t>(least_each, 1), 1, std::min(cpus, kMostThreads));
  std::vector<Share> shares;
  for (size_t i = 0; i < share_count; ++i) {
    shares.push_back(
        {work, count * i / share_count, count * (i + 1) / share_count});
  }
  do_all(shares);
}

void in_threads(size_t count, const std::function<void(size_t index)>& work) {
  const std::function<void(size_t, size_t)> one = [&](size_t begin, size_t) {
    work(begin);
  };
  std::vector<Share> shares;
  for (size_t i = 0; i < count; ++i)
    shares.push_back({one, i, i + 1});
  if (!shares.empty()) do_all(shares);
}

}  // namespace tidemark::base
