#include "toymachine/trace/trace_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "text/read_number.hpp"
#include "toymachine/count/count_json.hpp"
#include "toymachine/trace/step_texts.hpp"
#include "toymachine/trace/tile_origins.hpp"

namespace flashlab::toy {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> kRoleNames{"input", "temp", "output"};

/// Names and source text may contain any bytes; invalid UTF-8 becomes U+FFFD.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns "softmax_safe" for programs/softmax_safe.toy.
std::string program_name(const std::string& path) {
  std::string name = path.substr(path.find_last_of("/\\") + 1);
  const std::size_t dot = name.rfind(".toy");
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name;
}

class TraceJson : public TraceSink {
 public:
  TraceJson(std::ostream& out, TraceJsonOptions options)
      : out_(out), options_(std::move(options)) {}

  bool begin(const TraceHeader& header) override {
    header_ = &header;
    program_ = header.program;
    texts_.begin(header, false);
    origins_.emplace(*program_);
    const Program& program = *program_->program;
    Json head;
    head["flashlab"] = "trace";
    head["version"] = 1;
    head["program"] = program_name(program.source->name());
    head["title"] = program.title;
    Json lines = Json::array();
    for (std::uint32_t line = 1; line <= program.source->num_lines_of_both(); ++line) {
      lines.push_back(program.source->line(line));
    }
    head["source"] = std::move(lines);
    Json params = Json::object();
    for (std::size_t i = 0; i < program.params.size(); ++i) {
      params[program.params[i].name] = program_->params[i];
    }
    head["params"] = std::move(params);
    head["isa"] = to_string(program.level);
    head["precision"] = header.double_precision ? "double" : "float";
    head["num_registers"] = program_->num_registers;
    head["register_names"] = Json::array();
    for (std::int64_t i = 0; i < program_->num_registers; ++i) {
      head["register_names"].push_back(program_->register_name(i));
    }
    head["passes"] = program.passes;
    head["costs"] = costs();
    head["symbols"] = header.options->symbols;
    std::string text = dumped(head);
    text.pop_back();  // the object continues
    out_ << text << ",\n\"arrays\": [";
    for (std::size_t i = 0; i < program_->arrays.size(); ++i) {
      out_ << (i == 0 ? "\n" : ",\n");
      array(program_->arrays[i]);
    }
    out_ << "],\n\"steps\": [";
    return out_.good();
  }

  bool body(const TraceBody& body) override {
    texts_.begin_body(body);
    Json entry;
    entry["body"] = true;
    entry["loop"] = program_->loops[body.loop].var;
    entry["line"] = program_->loops[body.loop].span.line;
    Json registers = Json::array();
    for (std::size_t i = 0; i < body.registers.size(); ++i) {
      if (body.registers[i].origin == Origin::kUnwritten) continue;
      registers.push_back(named(static_cast<std::int64_t>(i), body.registers));
    }
    entry["registers"] = std::move(registers);
    return write(entry);
  }

  bool row(const TraceRow& row) override {
    texts_.begin_step(row);
    std::string makes, makes_unicode;
    if (header_->options->symbols) {
      if (!options_.for_player) makes = texts_.chosen(row, {false});
      makes_unicode = texts_.chosen(row, {true});
    }
    texts_.end_step(row);
    origins_->follow(row);
    Json entry;
    entry["step"] = count_json(row.step);
    entry["line"] = row.instruction->span.line;
    if (row.instruction->pass != 0 || !options_.for_player) entry["pass"] = row.instruction->pass;
    Json loops = Json::object();
    for (const TraceLoop& loop : row.loops) {
      const std::string& var = program_->loops[loop.loop].var;
      loops[var] = loop.generic ? Json(var) : Json(loop.value);
    }
    if (!loops.empty() || !options_.for_player) entry["loops"] = std::move(loops);
    entry["instruction"] = row.text;
    entry["op"] = instruction_set()[row.instruction->row].mnemonic;
    const std::uint16_t op = row.instruction->row;
    if (const std::int64_t per_work = options_.costs.per_work(op); per_work != 0) {
      const Count cycles = Count(options_.costs.cycles(op)) + Count(per_work) * Count(row.work);
      entry["cycles"] = count_json(cycles);
    }
    if (row.read || !options_.for_player) entry["reads"] = Json::array();
    if (row.read) entry["reads"].push_back(cell(*row.read));
    if (!row.register_reads.empty() || !options_.for_player) {
      entry["register_reads"] = row.register_reads;
    }
    if (!makes.empty()) entry["makes"] = std::move(makes);
    if (const auto& meeting = origins_->meeting()) entry["meets"] = strips(*meeting);
    entry["writes"] = writes(row);
    // The player knows that R0 = x0 if it knows what is written.
    const bool is_known = options_.for_player && !row.stored &&
                          makes_unicode == program_->register_name(row.register_written) + " = " +
                                               entry["writes"].value("held_unicode", "");
    if (!makes_unicode.empty() && !is_known) entry["makes_unicode"] = std::move(makes_unicode);
    if (!row.renamed.empty()) entry["renamed"] = named(row.renamed, row.registers);
    return write(entry);
  }

  void hidden(const TraceRow& row) override {
    texts_.begin_step(row);
    texts_.end_step(row);
    origins_->follow(row);
  }

  bool label(const TraceLabel& label) override {
    texts_.label(label);
    Json entry;
    entry["label"] = true;
    entry["line"] = label.line;
    entry["after_step"] = count_json(label.after_step);
    entry["register"] = label.register_number;
    if (!options_.for_player) add_symbol(entry, label.symbol);
    add_held(entry, label.registers[static_cast<std::size_t>(label.register_number)]);
    entry["claim"] = label.claim == Claim::kTrue    ? Json(true)
                     : label.claim == Claim::kFalse ? Json(false)
                                                    : Json(nullptr);
    if (!label.renamed.empty()) entry["renamed"] = named(label.renamed, label.registers);
    return write(entry);
  }

  bool gap(const TraceGap& gap) override {
    return write(
        {{"elided", true}, {"first", count_json(gap.first)}, {"last", count_json(gap.last)}});
  }

  void end(const TraceSummary& summary) override {
    if (!header_) return;
    Json tail;
    tail["counters"] = summary.execution ? counters(*summary.execution) : Json(nullptr);
    tail["claims"] = {{"checked", count_json(summary.claims_checked)},
                      {"unchecked", count_json(summary.claims_unchecked)}};
    tail["error"] = nullptr;
    if (summary.error) {
      tail["error"] = {{"line", summary.error->span.line},
                       {"what", summary.error->what},
                       {"expected", summary.error->expected}};
    }
    tail["complete"] = summary.complete;
    const std::string text = dumped(tail);
    out_ << "\n],\n" << text.substr(1) << '\n';
    out_.flush();
  }

 private:
  Json costs() const {
    Json costs = Json::object();
    for (std::size_t i = 0; i < instruction_set().size(); ++i) {
      costs[std::string(instruction_set()[i].mnemonic)] = options_.costs.cycles(i);
    }
    return costs;
  }

  /// Writes cell by cell, because an array may be large.
  void array(const BoundArray& array) {
    Json head{{"name", array.name},
              {"role", kRoleNames[static_cast<std::size_t>(array.role)]},
              {"shape", array.extents},
              {"tile", array.tile},
              {"offset", array.offset}};
    std::string text = dumped(head);
    text.pop_back();
    out_ << text << ",\"initial\":[";
    for (std::int64_t i = 0; i < array.size; ++i) {
      const auto value = header_->initial(static_cast<std::size_t>(array.offset + i));
      out_ << (i == 0 ? "" : ",") << (value ? dumped(number(*value)) : "null");
    }
    out_ << "]}";
  }

  /// Writes a float as the shortest decimal that reads back as the same float:
  /// 0.1, not 0.10000000149.
  Json number(double value) const {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    if (header_->double_precision) return value;
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value));
    read_number({buffer, end.ptr}, value);
    return value;
  }

  /// Writes a tile as a list of rows.
  Json value(const TraceValue& value) const {
    if (!value.is_tile()) return number(value.number);
    Json rows = Json::array();
    for (std::int64_t r = 0; r < value.rows; ++r) {
      Json row = Json::array();
      for (std::int64_t c = 0; c < value.cols; ++c) {
        row.push_back(number(value.elements[static_cast<std::size_t>(r * value.cols + c)]));
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  SymbolStyle style(bool unicode) const { return {unicode, &header_->axes}; }

  void add_symbol(Json& json, const Symbol& symbol) const {
    if (!symbol.is_written()) return;
    json["symbol"] = to_string(symbol, style(false));
    json["symbol_unicode"] = to_string(symbol, style(true));
  }

  /// The text that stands for a register in a table.
  void add_held(Json& json, const TraceRegister& reg) const {
    if (!reg.symbol.is_written()) return;
    std::string text = texts_.held(reg, true);
    if (text.empty()) return;
    if (!options_.for_player) json["held"] = texts_.held(reg, false);
    json["held_unicode"] = std::move(text);
  }

  Json writes(const TraceRow& row) const {
    Json writes = row.stored ? cell(*row.stored) : Json{{"register", row.register_written}};
    writes["value"] = value(row.value);
    if (row.value.is_tile()) writes["shape"] = {row.value.rows, row.value.cols};
    if (!options_.for_player) {
      add_symbol(writes, row.symbol);
      if (row.symbol.is_written() && row.symbol.node() != row.expression.node()) {
        writes["expression"] = to_string(row.expression, style(false));
        writes["expression_unicode"] = to_string(row.expression, style(true));
      }
    }
    if (!row.stored) {
      add_held(writes, row.registers[static_cast<std::size_t>(row.register_written)]);
      const TileOrigin origin = origins_->of(row.register_written);
      if (!origin.tile) {
        const Json known = strips(origin);
        if (!known.empty()) writes["of"] = known;
      } else if (!row.read || !options_.for_player) {
        writes["of"] = {{"tile", cell(*origin.tile)}};
      }
    } else if (!row.read) {
      add_held(writes, row.registers[static_cast<std::size_t>(row.register_reads.front())]);
    }
    return writes;
  }

  /// {"rows": ["q", 0, 1], "columns": ["k", 0, 2]}: rows of tile row 1 of q, columns of tile row 2
  /// of k.
  Json strips(const TileOrigin& origin) const {
    const auto strip = [&](const TileStrip& one) {
      Json json{program_->arrays[one.array].name, one.axis, one.index};
      if (!one.before.empty()) json.push_back(one.before);
      return json;
    };
    Json json = Json::object();
    if (origin.rows) json["rows"] = strip(*origin.rows);
    if (origin.columns) json["columns"] = strip(*origin.columns);
    return json;
  }

  /// With the first and the last element along each axis, if they are not the index.
  Json cell(const TraceCell& cell) const {
    const BoundArray& array = program_->arrays[cell.array];
    Json json{{"array", array.name}, {"index", cell.indices}};
    const bool is_tiled = std::any_of(array.tile.begin(), array.tile.end(),
                                      [](std::int64_t length) { return length > 1; });
    if (options_.for_player || !is_tiled) return json;
    for (std::size_t axis = 0; axis < cell.indices.size(); ++axis) {
      const std::int64_t first = cell.indices[axis] * array.tile[axis];
      const std::int64_t last = std::min(first + array.tile[axis], array.extents[axis]) - 1;
      json["elements"].push_back({first, last});
    }
    return json;
  }

  Json named(std::int64_t number, std::span<const TraceRegister> registers) const {
    Json entry{{"register", number}};
    const TraceRegister& reg = registers[static_cast<std::size_t>(number)];
    if (!options_.for_player) add_symbol(entry, reg.symbol);
    add_held(entry, reg);
    return entry;
  }

  Json named(const std::vector<std::int64_t>& numbers,
             std::span<const TraceRegister> registers) const {
    Json list = Json::array();
    for (const std::int64_t number : numbers) list.push_back(named(number, registers));
    return list;
  }

  Json counters(const Execution& execution) const {
    const Counters counted = count(*program_, execution.executions, options_.costs);
    Json json = Json::object();
    for (const CounterDescription& row : counter_descriptions()) {
      json[row.key] = count_json(counted.*row.value);
    }
    Json by_op = Json::object();
    for (std::size_t i = 0; i < counted.by_instruction.size(); ++i) {
      if (counted.by_instruction[i] == 0) continue;
      by_op[std::string(instruction_set()[i].mnemonic)] = count_json(counted.by_instruction[i]);
    }
    json["by_op"] = std::move(by_op);
    return json;
  }

  bool write(const Json& entry) {
    out_ << (first_ ? "\n" : ",\n") << dumped(entry);
    first_ = false;
    return out_.good();
  }

  std::ostream& out_;
  TraceJsonOptions options_;
  const TraceHeader* header_ = nullptr;
  const BoundProgram* program_ = nullptr;
  StepTexts texts_;
  std::optional<TileOrigins> origins_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<TraceSink> make_trace_json(std::ostream& out, const TraceJsonOptions& options) {
  return std::make_unique<TraceJson>(out, options);
}

}  // namespace flashlab::toy
