#include "analysis/diff_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "unit/analysis/recorded.h"

namespace tidemark::analysis {
namespace {

using model::Category;
using model::RegionKind;
using model::Sample;
using test::mapping_of;
using test::recorded_process;

constexpr uint64_t kKib = 1024;

Sample sample_with(std::vector<model::Process> processes) {
  Sample sample;
  sample.processes = std::move(processes);
  return sample;
}

DiffReport diff(const Sample& before, const Sample& after) {
  return compare_samples(before, after);
}

const DiffRow* row_named(const std::vector<DiffRow>& rows,
                         const std::string& name) {
  for (const DiffRow& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

struct Sums {
  Bytes before;
  Bytes after;
  int64_t change = 0;
};

Sums sums_of(const std::vector<DiffRow>& rows) {
  Sums sums;
  for (const DiffRow& row : rows) {
    sums.before.add(row.before);
    sums.after.add(row.after);
    sums.change += row.change();
  }
  return sums;
}

RC_GTEST_PROP(DiffReport, EachListAddsUpToTheWholeChange, ()) {
  const DiffReport report = diff(test::any_sample(), test::any_sample());
  for (const std::vector<DiffRow>* rows :
       {&report.categories, &report.parts, &report.processes}) {
    const Sums sums = sums_of(*rows);
    RC_ASSERT(sums.before == report.before.total);
    RC_ASSERT(sums.after == report.after.total);
    RC_ASSERT(sums.change == report.change());
  }
}

TEST(DiffReport, ProgramsOfOneNameHaveSharedMemoryOnce) {
  Sample after;
  after.machine.emplace();
  after.machine->page_size_bytes = 4096;
  after.machine->meminfo.shmem_bytes = 500 * kKib;
  for (int32_t pid : {1, 2, 3, 4}) {
    model::Process worker = test::unread_process(pid, 1);
    worker.stat.comm = pid == 4 ? "other" : "worker";
    worker.status.rss_anon_bytes = 10 * kKib;
    worker.status.rss_file_bytes = 0;
    worker.status.rss_shmem_bytes = 400 * kKib;
    after.processes.push_back(worker);
  }
  const DiffReport report = diff(Sample(), after);
  EXPECT_EQ(report.after.total.pss, (40 + 500) * kKib);
  const DiffRow* workers = row_named(report.processes, "worker");
  ASSERT_NE(workers, nullptr);
  EXPECT_EQ(workers->after.pss, (30 + 500) * kKib) << "not three times 400";
  EXPECT_EQ(workers->after_count, 3U);
  EXPECT_EQ(report.before_again_bytes, 0U);
  EXPECT_EQ(report.after_again_bytes, 400 * kKib) << "of the other one";
}

RC_GTEST_PROP(DiffReport, ACategoryIsTheSumOfItsObjects, ()) {
  const DiffReport report = diff(test::any_sample(), test::any_sample());
  for (const DiffRow& category : report.categories) {
    DiffRow sum;
    for (const DiffRow& part : report.parts) {
      if (part.category != category.category) continue;
      sum.before.add(part.before);
      sum.after.add(part.after);
      sum.before_count += part.before_count;
      sum.after_count += part.after_count;
    }
    RC_ASSERT(sum.before == category.before);
    RC_ASSERT(sum.after == category.after);
    RC_ASSERT(sum.before_count == category.before_count);
    RC_ASSERT(sum.after_count == category.after_count);
  }
}

RC_GTEST_PROP(DiffReport, TheOtherWayRoundIsTheSameWithTheSignTurned, ()) {
  const Sample before = test::any_sample();
  const Sample after = test::any_sample();
  const DiffReport there = diff(before, after);
  const DiffReport back = diff(after, before);
  RC_ASSERT(there.change() == -back.change());
  RC_ASSERT(there.parts.size() == back.parts.size());
  for (size_t i = 0; i < there.parts.size(); ++i) {
    RC_ASSERT(there.parts[i].name == back.parts[i].name);
    RC_ASSERT(there.parts[i].change() == -back.parts[i].change());
  }
}

TEST(DiffReport, MatchesByWhatItIsAndNotByAddressOrPid) {
  model::Process before = recorded_process(
      10, {mapping_of(0x10000000, 70, "/data"), mapping_of(0x20000000, 30)},
      {RegionKind::File, RegionKind::BrkHeap});
  model::Process after = recorded_process(
      99, {mapping_of(0x70000000, 30), mapping_of(0x90000000, 70, "/data")},
      {RegionKind::BrkHeap, RegionKind::File});
  before.stat.comm = after.stat.comm = "server";
  const DiffReport report = diff(sample_with({before}), sample_with({after}));
  EXPECT_EQ(report.change(), 0);
  for (const std::vector<DiffRow>* rows :
       {&report.categories, &report.parts, &report.processes}) {
    for (const DiffRow& row : *rows)
      EXPECT_EQ(row.change(), 0) << row.name;
  }
  EXPECT_EQ(report.parts.size(), 2U);
  EXPECT_EQ(report.processes.size(), 1U);
}

TEST(DiffReport, WhatCameAndWhatWentHaveNothingOnTheOtherSide) {
  const DiffReport report =
      diff(sample_with({recorded_process(
               1, {mapping_of(0x10000000, 30, "/old")}, {RegionKind::File})}),
           sample_with({recorded_process(
               2, {mapping_of(0x10000000, 50, "/new")}, {RegionKind::File})}));
  const DiffRow* gone = row_named(report.parts, "/old");
  const DiffRow* come = row_named(report.parts, "/new");
  ASSERT_TRUE(gone != nullptr && come != nullptr);
  EXPECT_EQ(gone->after, Bytes());
  EXPECT_EQ(gone->after_count, 0U);
  EXPECT_EQ(gone->change(), -int64_t{30 * kKib});
  EXPECT_EQ(come->before, Bytes());
  EXPECT_EQ(come->change(), int64_t{50 * kKib});
  ASSERT_TRUE(row_named(report.processes, "p1"));
  EXPECT_EQ(row_named(report.processes, "p1")->change(), -int64_t{30 * kKib});
  EXPECT_EQ(report.change(), int64_t{20 * kKib});
}

RC_GTEST_PROP(DiffReport, TheLargestChangeComesFirstEitherWay, ()) {
  const DiffReport report = diff(test::any_sample(), test::any_sample());
  for (size_t i = 1; i < report.parts.size(); ++i) {
    RC_ASSERT(std::llabs(report.parts[i - 1].change()) >=
              std::llabs(report.parts[i].change()));
  }
}

TEST(DiffReport, OneNameOfTwoKindsIsTwoRows) {
  const model::Process process =
      recorded_process(1,
                       {mapping_of(0x10000000, 30, "/lib/x"),
                        mapping_of(0x20000000, 8, "/lib/x")},
                       {RegionKind::Image, RegionKind::File});
  const DiffReport report = diff({}, sample_with({process}));
  ASSERT_EQ(report.parts.size(), 2U);
  EXPECT_NE(report.parts[0].category, report.parts[1].category);
  EXPECT_EQ(report.parts[0].name, report.parts[1].name);
}

TEST(DiffReport, ProcessesOfOneNameAreOneRowWithTheirNumber) {
  std::vector<model::Process> three;
  for (int32_t pid : {1, 2, 3}) {
    three.push_back(recorded_process(pid, {mapping_of(0x10000000, 10)},
                                     {RegionKind::Anonymous}));
    three.back().stat.comm = "worker";
  }
  const DiffReport report = diff(sample_with({three[0]}), sample_with(three));
  ASSERT_EQ(report.processes.size(), 1U);
  EXPECT_EQ(report.processes[0].before_count, 1U);
  EXPECT_EQ(report.processes[0].after_count, 3U);
  EXPECT_EQ(report.processes[0].change(), int64_t{20 * kKib});
}

// Of 30 KiB of PSS, and 60 resident.
model::Process read_process(int32_t pid) {
  model::Process process = recorded_process(pid, {mapping_of(0x10000000, 30)},
                                            {RegionKind::Anonymous});
  process.statm = model::Statm{.resident_pages = 15};
  return process;
}

TEST(DiffReport, OneThatWasNotReadOnASideIsComparedByItsCounters) {
  const DiffReport report = diff(sample_with({read_process(1)}),
                                 sample_with({test::unread_process(1, 1000)}));
  EXPECT_EQ(report.after.undetailed_count, 1U);
  EXPECT_EQ(report.change(), int64_t{985 * 4 * kKib});
  EXPECT_TRUE(report.before.total.is_unsplit());
  EXPECT_EQ(report.by_counters, std::set<std::string>{"p1"});
  EXPECT_FALSE(report.is_unsplit_before);
  EXPECT_TRUE(report.is_unsplit_after);
  ASSERT_EQ(report.processes.size(), 1U);
  EXPECT_EQ(report.processes[0].before_count, 1U);
  EXPECT_EQ(report.processes[0].after_count, 1U) << "it was there";
  EXPECT_EQ(report.processes[0].change(), report.change());
}

TEST(DiffReport, OthersOfItsNameAreComparedByTheirShares) {
  model::Process unread = test::unread_process(1, 1000);
  model::Process neighbour = read_process(2);
  neighbour.stat.comm = "p1";
  const DiffReport report = diff(sample_with({read_process(1), neighbour}),
                                 sample_with({unread, neighbour}));
  EXPECT_EQ(report.before.total.pss, (60 + 30) * kKib);
  EXPECT_EQ(report.after.total.pss, (4000 + 30) * kKib);
}

TEST(DiffReport, OfAnotherRunThoseOfItsNameAreMeant) {
  model::Process unread = test::unread_process(7, 1000);
  unread.stat.comm = "p1";
  const DiffReport report =
      diff(sample_with({read_process(1)}), sample_with({unread}));
  EXPECT_EQ(report.before.total.pss, 60 * kKib) << "by its counters too";
}

TEST(DiffReport, OneOfWhichNothingIsKnownIsInNeitherSum) {
  model::Process denied = test::unread_process(1, 0);
  denied.statm.reset();
  const DiffReport report = diff({}, sample_with({denied}));
  EXPECT_EQ(report.after.unknown_count, 1U);
  EXPECT_TRUE(report.after.processes.at(0).is_unknown);
  EXPECT_EQ(report.change(), 0);
}

TEST(DiffReport, ChangesBeyondThirtyTwoBitsKeepTheirSign) {
  constexpr uint64_t kGib = 1024 * 1024;  // in KiB
  const DiffReport report =
      diff(sample_with({recorded_process(1, {mapping_of(0x10000000, 5 * kGib)},
                                         {RegionKind::Anonymous})}),
           {});
  EXPECT_EQ(report.change(), -(int64_t{5} << 30));
  EXPECT_EQ(report.parts.at(0).change(), -(int64_t{5} << 30));
}

TEST(DiffReport, OfNothingHasNoRows) {
  const DiffReport report = diff({}, {});
  EXPECT_TRUE(report.categories.empty());
  EXPECT_TRUE(report.parts.empty());
  EXPECT_TRUE(report.processes.empty());
  EXPECT_EQ(report.change(), 0);
}

}  // namespace
}  // namespace tidemark::analysis
