#include "view/text/style.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "unit/view/text/lines.h"

namespace tidemark::view {
namespace {

using model::Amount;
using model::amount_of;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kOneAndAHalfGiB = 3 * kGiB / 2;

TextStyle in_unit(base::SizeUnit unit) {
  TextStyle style;
  style.unit = unit;
  return style;
}

TextStyle colored() {
  TextStyle style;
  style.color = true;
  return style;
}

Amount unknown() {
  return amount_of(std::nullopt);
}

Amount at_least(uint64_t bytes) {
  Amount amount = amount_of(bytes);
  amount.add(unknown());
  return amount;
}

TEST(Dense, AKnownAmountIsItsSize) {
  EXPECT_EQ(dense(TextStyle{}, amount_of(kOneAndAHalfGiB)), "1.50G");
}

TEST(Dense, AnUnknownAmountIsAQuestionMark) {
  EXPECT_EQ(dense(TextStyle{}, unknown()), "?");
}

TEST(Dense, AnAbsentNumberIsAQuestionMark) {
  EXPECT_EQ(dense(TextStyle{}, std::optional<uint64_t>()), "?");
}

TEST(Dense, AKnownZeroIsNotUnknown) {
  EXPECT_EQ(dense(TextStyle{}, amount_of(0)), "0");
}

TEST(Dense, ALowerBoundSaysSo) {
  EXPECT_EQ(dense(TextStyle{}, at_least(kOneAndAHalfGiB)), "≥1.50G");
}

TEST(Dense, ALowerBoundSaysSoInAscii) {
  EXPECT_EQ(dense(ascii(), at_least(kOneAndAHalfGiB)), ">=1.50G");
}

TEST(Dense, ALowerBoundOfNothingStillSaysSo) {
  EXPECT_EQ(dense(TextStyle{}, at_least(0)), "≥0");
}

TEST(Dense, KeepsToTheUnitThatWasAskedFor) {
  EXPECT_EQ(dense(in_unit(base::SizeUnit::MiB), amount_of(kOneAndAHalfGiB)),
            "1536M");
}

TEST(DenseSigned, ANegativeNumberHasAMinus) {
  EXPECT_EQ(dense_signed(TextStyle{}, -461 * 1024), "-461K");
}

TEST(DenseSigned, APositiveNumberHasNoSign) {
  EXPECT_EQ(dense_signed(TextStyle{}, 461 * 1024), "461K");
}

TEST(DenseSigned, ZeroHasNoSign) {
  EXPECT_EQ(dense_signed(TextStyle{}, 0), "0");
}

TEST(DenseSigned, AnAbsentNumberIsAQuestionMark) {
  EXPECT_EQ(dense_signed(TextStyle{}, std::nullopt), "?");
}

TEST(DenseSigned, TheLeastNumberDoesNotOverflow) {
  // 2^63 bytes are 8 EiB.
  EXPECT_EQ(dense_signed(TextStyle{}, std::numeric_limits<int64_t>::min()),
            "-8.00E");
}

TEST(Spelled, AKnownAmountHasItsUnitInFull) {
  EXPECT_EQ(spelled(TextStyle{}, amount_of(kOneAndAHalfGiB)), "1.50 GiB");
}

TEST(Spelled, AnUnknownAmountIsAQuestionMark) {
  EXPECT_EQ(spelled(TextStyle{}, unknown()), "?");
}

TEST(Spelled, ALowerBoundStandsApartFromItsSign) {
  EXPECT_EQ(spelled(TextStyle{}, at_least(kOneAndAHalfGiB)), "≥ 1.50 GiB");
}

TEST(Spelled, ALowerBoundSaysSoInAscii) {
  EXPECT_EQ(spelled(ascii(), at_least(kOneAndAHalfGiB)), ">= 1.50 GiB");
}

TEST(Spelled, KeepsToTheUnitThatWasAskedFor) {
  EXPECT_EQ(spelled(in_unit(base::SizeUnit::KiB), uint64_t{1536}), "1.50 KiB");
}

TEST(SpelledSigned, ANegativeNumberHasAMinus) {
  EXPECT_EQ(spelled_signed(TextStyle{}, -3 * 1024), "-3.00 KiB");
}

TEST(Paint, WithoutColourTextStaysAsItIs) {
  EXPECT_EQ(paint(TextStyle{}, Ink::Warn, "odd"), "odd");
}

TEST(Paint, EveryInkButPlainHasACodeAndIsReset) {
  EXPECT_EQ(paint(colored(), Ink::Bold, "b"), "\x1b[1mb\x1b[0m");
  EXPECT_EQ(paint(colored(), Ink::Dim, "d"), "\x1b[2md\x1b[0m");
  EXPECT_EQ(paint(colored(), Ink::Warn, "w"), "\x1b[33mw\x1b[0m");
  EXPECT_EQ(paint(colored(), Ink::Plain, "p"), "p");
}

TEST(Paint, NothingIsLeftUnpainted) {
  EXPECT_EQ(paint(colored(), Ink::Bold, ""), "");
}

TEST(Glyphs, HaveAsciiForms) {
  EXPECT_EQ(ellipsis(ascii()), "...");
}

TEST(Glyphs, AreSingleCharactersInUtf8) {
  EXPECT_EQ(ellipsis(TextStyle{}), "…");
}

}  // namespace
}  // namespace tidemark::view
