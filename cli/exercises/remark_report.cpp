#include "cli/exercises/remark_report.hpp"

#include <unistd.h>

#include <atomic>
#include <exception>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/prove/remarks.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

using exercises::Claim;
using exercises::RemarkReport;

std::string claim_text(const Claim& claim) {
  const std::string line = " (line " + std::to_string(claim.line) + ")";
  switch (claim.kind) {
    case Claim::Kind::kRight:
    case Claim::Kind::kMoreRight:
      return "a change repairs it" + line;
    case Claim::Kind::kValues:
      return "the values of the solution's line " + std::to_string(claim.other_line) +
             " repair it" + line;
    case Claim::Kind::kRemark:
      return printable(claim.name) + " " + printable(claim.text) + line;
    case Claim::Kind::kRatio:
      return printable(claim.name) + " is " + printable(claim.text) + " times what it should be";
    case Claim::Kind::kTerms:
      return "terms of " + printable(claim.name) + " are " + printable(claim.text);
    case Claim::Kind::kNoRounds:
      return "the loop over " + printable(claim.name) + " runs no round" + line;
    case Claim::Kind::kUndefined:
      return "the result is undefined: " + printable(claim.text) + line;
  }
  return {};
}

}  // namespace

int report_remarks(const std::vector<std::shared_ptr<const exercises::Exercise>>& all,
                   std::size_t jobs, std::uint64_t seed, std::size_t every,
                   const Terminal& terminal) {
  std::vector<RemarkReport> reports(all.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      try {
        exercises::RemarkOptions options;
        options.seed = seed;
        options.every = every;
        reports[i] = exercises::check_remarks(all[i], options);
        const std::lock_guard lock(mutex);
        if (isatty(STDERR_FILENO) != 0) std::cerr << printable(reports[i].exercise) << "\n";
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::runtime_error& broken) {
    throw Failure(kExitProgramWrong, printable(broken.what()));
  }
  TextTable table({{"exercise"},
                   {"mutants", Align::kRight},
                   {"remarks", Align::kRight},
                   {"checked", Align::kRight},
                   {"at two sizes", Align::kRight},
                   {"false", Align::kRight}});
  RemarkReport total;
  const auto row = [&](const RemarkReport& report, std::size_t wrong) {
    table.row({printable(report.exercise), std::to_string(report.mutants),
               std::to_string(report.remarks), std::to_string(report.decided),
               std::to_string(report.decided_twice), std::to_string(wrong)});
  };
  std::size_t wrong = 0;
  std::string list;
  for (const RemarkReport& report : reports) {
    if (report.remarks == 0) continue;
    row(report, report.wrong.size());
    total.mutants += report.mutants;
    total.remarks += report.remarks;
    total.decided += report.decided;
    total.decided_twice += report.decided_twice;
    wrong += report.wrong.size();
    for (const exercises::FalseRemark& one : report.wrong) {
      list += "  " + printable(report.exercise) + ", line " + std::to_string(one.mutant.line) +
              ", " + printable(one.mutant.what) + ": " + claim_text(one.claim) + ", at " +
              exercises::to_string(one.size) + "\n";
    }
  }
  total.exercise = "all";
  table.rule();
  row(total, wrong);
  std::cout << table.to_string(terminal) << "seed " << seed
            << ": other sizes and inputs than those of the check\n"
            << (list.empty() ? "" : "\nFalse remarks\n" + list);
  return wrong == 0 ? kExitGood : kExitProgramWrong;
}

}  // namespace flashlab::cli
