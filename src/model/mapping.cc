#include "model/mapping.h"

#include <iterator>

namespace tidemark::model {

std::string permission_letters(const Permissions& p) {
  return std::string(1, p.read ? 'r' : '-') + (p.write ? 'w' : '-') +
         (p.execute ? 'x' : '-') + (p.shared ? 's' : 'p');
}

uint64_t vm_flag_bit(std::string_view two_letters) {
  for (size_t i = 0; i < kVmFlagCount; ++i) {
    if (kVmFlagNames[i] == two_letters) return uint64_t{1} << i;
  }
  return kVmFlagOther;
}

Permissions permissions_from_letters(std::string_view letters) {
  const auto has = [&](size_t at, char letter) {
    return at < letters.size() && letters[at] == letter;
  };
  return {has(0, 'r'), has(1, 'w'), has(2, 'x'), has(3, 's')};
}

}  // namespace tidemark::model
