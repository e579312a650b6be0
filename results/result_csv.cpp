#include <functional>

#include "results/result_file.hpp"
#include "text/lists.hpp"
#include "text/numbers.hpp"

namespace flashlab::compare {
namespace {

/// One column: its header with the unit, and the function for a row's cell.
struct Column {
  const char* header;
  std::function<std::string(const Row&)> cell;
};

std::string text_of(double value) { return short_text(value); }
std::string text_of(std::int64_t value) { return std::to_string(value); }

template <class Value>
std::string optional_text(const std::optional<Value>& value) {
  return value ? text_of(*value) : "";
}

template <class Value>
std::function<std::string(const Row&)> if_measured(Value value) {
  return [value](const Row& row) { return row.measured ? value(*row.measured) : std::string(); };
}

template <class Value>
std::function<std::string(const Row&)> if_it_fits(Value value) {
  return [value](const Row& row) { return does_not_fit(row) ? std::string() : value(row); };
}

std::string read_bytes(const std::optional<Traffic>& t) { return t ? text_of(t->bytes_read) : ""; }
std::string written_bytes(const std::optional<Traffic>& t) {
  return t ? text_of(t->bytes_written) : "";
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"variant", [](const Row& r) { return r.variant; }},
      {"pass", [](const Row& r) { return std::string(to_string(r.pass)); }},
      {"kernel", [](const Row& r) { return r.kernel; }},
      {"dtype", [](const Row& r) { return r.dtype; }},
      {"products", [](const Row& r) { return r.products; }},
      {"mask", [](const Row& r) { return r.mask; }},
      {"batch", [](const Row& r) { return text_of(r.batch); }},
      {"num_heads", [](const Row& r) { return text_of(r.num_heads); }},
      {"num_kv_heads", [](const Row& r) { return text_of(r.num_kv_heads); }},
      {"seqlen_q", [](const Row& r) { return text_of(r.seqlen_q); }},
      {"seqlen_k", [](const Row& r) { return text_of(r.seqlen_k); }},
      {"head_dim", [](const Row& r) { return text_of(r.head_dim); }},
      {"tile", [](const Row& r) { return r.tile; }},
      {"toy_sm_read_bytes", [](const Row& r) { return read_bytes(r.toy.sm); }},
      {"toy_sm_written_bytes", [](const Row& r) { return written_bytes(r.toy.sm); }},
      {"predicted_sm_read_bytes", [](const Row& r) { return read_bytes(r.work.sm); }},
      {"predicted_sm_written_bytes", [](const Row& r) { return written_bytes(r.work.sm); }},
      {"predicted_dram_read_bytes", [](const Row& r) { return text_of(r.work.dram.bytes_read); }},
      {"predicted_dram_written_bytes",
       [](const Row& r) { return text_of(r.work.dram.bytes_written); }},
      {"product_flops", [](const Row& r) { return text_of(r.work.product_flops); }},
      {"elementwise_flops", [](const Row& r) { return text_of(r.work.elementwise_flops); }},
      {"exps", [](const Row& r) { return text_of(r.work.exps); }},
      {"roofline_ms", if_it_fits([](const Row& r) { return text_of(r.predicted.roofline_ms); })},
      {"overlap_ms", if_it_fits([](const Row& r) { return text_of(r.predicted.overlap_ms); })},
      {"seed_ms", [](const Row& r) { return optional_text(r.pallas_ms); }},
      {"measured_ms", if_measured([](const Measurement& m) { return optional_text(m.median_ms); })},
      {"least_ms", if_measured([](const Measurement& m) { return optional_text(m.least_ms); })},
      {"most_ms", if_measured([](const Measurement& m) { return optional_text(m.most_ms); })},
      {"time_ratio", [](const Row& r) { return optional_text(time_ratio(r)); }},
      {"measured_sm_read_bytes",
       if_measured([](const Measurement& m) { return read_bytes(m.sm); })},
      {"measured_sm_written_bytes",
       if_measured([](const Measurement& m) { return written_bytes(m.sm); })},
      {"sm_ratio", [](const Row& r) { return optional_text(sm_ratio(r)); }},
      {"measured_dram_read_bytes",
       if_measured([](const Measurement& m) { return read_bytes(m.dram); })},
      {"measured_dram_written_bytes",
       if_measured([](const Measurement& m) { return written_bytes(m.dram); })},
      {"tensor_percent",
       if_measured([](const Measurement& m) { return optional_text(m.tensor_percent); })},
      {"exp_percent",
       if_measured([](const Measurement& m) { return optional_text(m.exp_percent); })},
      {"issue_percent",
       if_measured([](const Measurement& m) { return optional_text(m.issue_percent); })},
      {"shared_percent",
       if_measured([](const Measurement& m) { return optional_text(m.shared_percent); })},
      {"measured_clock_ghz",
       if_measured([](const Measurement& m) { return optional_text(m.clock_ghz); })},
      {"prediction_sha256", [](const Row& r) { return r.prediction_sha256; }},
      {"failure", [](const Row& r) { return r.failure; }},
      {"sentence", [](const Row& r) { return r.sentence; }},
  };
  return all;
}

}  // namespace

std::string to_csv(const Comparison& comparison) {
  std::string text = joined(columns(), ",", &Column::header) + "\n";
  for (const Row& row : comparison.rows) {
    std::string line;
    for (const Column& column : columns()) {
      line += (&column == &columns().front() ? "" : ",") + csv_cell(column.cell(row));
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace flashlab::compare
