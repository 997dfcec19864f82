#include "view/text/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/escape.h"
#include "base/text.h"

namespace tidemark::view {
namespace {

using analysis::DoctorReport;
using analysis::DoctorRow;
using analysis::Grant;
using analysis::TierReport;
using model::CapabilityState;

constexpr size_t kMostColumns = 80;   // longer lines of words read badly
constexpr size_t kLeastColumns = 60;  // below, the rows would break
constexpr size_t kHeadIndent = 8;     // under "  tier  "
constexpr size_t kRowIndent = 13;     // under the name of a row

// Something a shell or systemd reads, and not words for a person.
bool is_command(std::string_view line) {
  constexpr std::string_view kStarts[] = {"sudo ", "docker ", "systemd-run ",
                                          "AmbientCapabilities="};
  return std::ranges::any_of(
      kStarts, [&](std::string_view start) { return line.starts_with(start); });
}

// Breaks at blanks so that each line, indented, fits; a longer word stays
// whole, because half a path is no path.
std::vector<std::string> wrapped(const TextStyle& style, std::string_view text,
                                 size_t indent) {
  const bool is_joined = is_command(text);
  const std::string_view tail = is_joined ? " \\" : "";
  const size_t columns = std::clamp(style.width, kLeastColumns, kMostColumns);
  const size_t width = columns - indent - tail.size();
  std::vector<std::string> lines;
  std::string line;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = base::take_until(rest, ' ');
    const size_t next =
        base::display_width(line) + 1 + base::display_width(word);
    if (!line.empty() && next > width) {
      lines.push_back(line + std::string(tail));
      line = is_joined ? "  " + std::string(word) : std::string(word);
    } else {
      line += line.empty() ? "" : " ";
      line += word;
    }
  }
  lines.push_back(line);
  return lines;
}

// `text` is trusted; names from the system went through visible() before.
void append_block(std::string& out, const TextStyle& style, Ink ink,
                  size_t indent, std::string_view text) {
  for (const std::string& line : wrapped(style, text, indent)) {
    out += std::string(indent, ' ') + paint(style, ink, line) + "\n";
  }
}

// "  tier  " and then a block that begins on the same line.
void append_head(std::string& out, const TextStyle& style,
                 std::string_view label, std::string_view text) {
  std::string block;
  append_block(block, style, Ink::Bold, kHeadIndent, text);
  out += fmt::format("  {:<{}}{}", label, kHeadIndent - 2,
                     std::string_view(block).substr(kHeadIndent));
}

void append_grant(std::string& out, const TextStyle& style, size_t indent,
                  const Grant& grant) {
  if (!grant.line.empty()) {
    append_block(out, style, Ink::Plain, indent, base::visible(grant.line));
  }
  if (!grant.unit_line.empty()) {
    append_block(out, style, Ink::Dim, indent, "or in a systemd unit:");
    append_block(out, style, Ink::Plain, indent, grant.unit_line);
  }
  if (!grant.note.empty()) {
    append_block(out, style, Ink::Dim, indent, base::visible(grant.note));
  }
}

std::string capability_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += text.empty() ? "cap_" : ", cap_";
    text += name;
  }
  return text;
}

std::string caller(const model::DoctorFacts& facts) {
  const std::string capabilities =
      facts.effective.empty() ? "without a capability of use here"
                              : "with " + capability_list(facts.effective);
  return fmt::format("user {}{} {}{}", facts.user_id,
                     facts.in_user_namespace ? " of a user namespace" : "",
                     capabilities,
                     facts.no_new_privs ? ", no_new_privs is set" : "");
}

void append_header(std::string& out, const TextStyle& style,
                   const DoctorReport& report) {
  const model::DoctorFacts& facts = report.facts;
  if (facts.is_live) {
    append_block(
        out, style, Ink::Plain, 0,
        fmt::format("linux {} {}, {}", base::visible(facts.kernel_release),
                    base::visible(facts.machine), caller(facts)));
  } else {
    append_block(out, style, Ink::Plain, 0,
                 fmt::format("{}, linux {}", base::visible(facts.proc_path),
                             facts.kernel_release.empty()
                                 ? "?"
                                 : base::visible(facts.kernel_release)));
  }
  out += "\n";
  append_head(
      out, style, "tier",
      fmt::format("{}: {}", model::tier_name(report.reached), report.sentence));
  if (!report.next) return;
  append_head(out, style, "next",
              fmt::format("{}: {}", model::tier_name(report.next->tier),
                          report.next->adds));
  append_grant(out, style, kHeadIndent, report.next->grant);
}

// Why a row does not work and what would change that. Lines that grant rights
// stand once at the end of the tier; here their names are enough.
void append_reason(std::string& out, const TextStyle& style,
                   const DoctorRow& row, const TierReport& tier) {
  const model::Capability& capability = row.capability;
  std::string reason = base::visible(capability.detail);
  const bool has_own_line = !capability.grant.empty();
  if (capability.state == CapabilityState::Denied && !has_own_line &&
      !row.grant.line.empty()) {
    reason += "; needs " + capability_list(row.lacks);
  }
  append_block(out, style, Ink::Dim, kRowIndent, reason);
  if (has_own_line) {
    append_block(out, style, Ink::Plain, kRowIndent,
                 base::visible(capability.grant));
  }
  if (!row.grant.note.empty() && row.grant.note != tier.grant.note &&
      row.grant.line.empty()) {
    append_block(out, style, Ink::Dim, kRowIndent,
                 base::visible(row.grant.note));
  }
}

void append_tier(std::string& out, const TextStyle& style,
                 const TierReport& tier) {
  out += "\n";
  out += paint(
      style, Ink::Bold,
      fmt::format("tier {}, {}, {} of {} work", model::tier_name(tier.tier),
                  tier.is_reached ? "reached" : "not reached", tier.works_count,
                  tier.rows.size()));
  out += "\n";
  for (const DoctorRow& row : tier.rows) {
    const model::Capability& capability = row.capability;
    const bool is_fine = capability.state == CapabilityState::Works;
    // Padded before it is painted: escape sequences have no width.
    const std::string state =
        fmt::format("{:<9}", model::capability_state_name(capability.state));
    out += fmt::format("  {}  {:<24}  {}\n",
                       paint(style, is_fine ? Ink::Plain : Ink::Warn, state),
                       capability.name, capability.gives);
    if (!is_fine) append_reason(out, style, row, tier);
  }
  const bool has_denied =
      std::ranges::any_of(tier.rows, [](const DoctorRow& row) {
        return row.capability.state == CapabilityState::Denied &&
               row.capability.grant.empty();
      });
  if (has_denied && tier.grant != Grant{}) {
    append_block(out, style, Ink::Dim, 2, "for what is denied:");
    append_grant(out, style, 2, tier.grant);
  }
}

void append_kernel(std::string& out, const TextStyle& style,
                   const DoctorReport& report) {
  out += "\n" + paint(style, Ink::Bold, "kernel") + "\n";
  for (const model::KernelFact& fact : report.facts.kernel) {
    out += fmt::format("  {:<26} {}", fact.name, base::visible(fact.value));
    if (!fact.means.empty()) {
      out += paint(style, Ink::Dim, ": " + base::visible(fact.means));
    }
    out += "\n";
  }
}

}  // namespace

std::string doctor_text(const DoctorReport& report, const TextStyle& style) {
  std::string out;
  append_header(out, style, report);
  for (const TierReport& tier : report.tiers)
    append_tier(out, style, tier);
  append_kernel(out, style, report);
  out += "\n" + paint(style, Ink::Bold, "built in") + "\n";
  for (const model::BuildFeature& feature : report.built_in) {
    out += fmt::format("  {:<26} {}\n", feature.name,
                       feature.built_in ? "yes" : "no");
  }
  return out;
}

}  // namespace tidemark::view
