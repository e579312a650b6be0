#include "toymachine/history/figure.hpp"

#include <algorithm>
#include <set>

#include "toymachine/language/expression.hpp"

namespace flashlab::toy {
namespace {

bool has_constant(const InstructionSpec& spec) { return spec.has(OperandKind::kConstant); }

/// Replaces whole words: "Ra" in "max(Ra, Rb)".
void replace_word(std::string& text, std::string_view word, const std::string& by) {
  const std::size_t at = text.find(word);
  if (at != std::string::npos) text.replace(at, word.size(), by);
}

}  // namespace

FigureArray FigureRun::totals() const {
  FigureArray sum;
  for (const FigureArray& one : arrays) {
    sum.bytes_loaded += one.bytes_loaded;
    sum.bytes_stored += one.bytes_stored;
    sum.bytes_updated += one.bytes_updated;
  }
  return sum;
}

std::string FigureRun::role(std::uint32_t pass, std::int64_t register_number) const {
  for (const FigureRole& one : roles) {
    if (one.pass == pass && one.register_number == register_number) return one.text;
  }
  return "";
}

bool FigureRecorder::begin(const TraceHeader& header) {
  program_ = header.program;
  origins_.emplace(*program_);
  holders_.resize(static_cast<std::size_t>(program_->num_registers));
  return true;
}

bool FigureRecorder::row(const TraceRow& row) {
  follow(row, true);
  return !is_too_long_;
}

void FigureRecorder::follow(const TraceRow& row, bool has_text) {
  is_too_long_ |= row.step > kMostFigureSteps;
  if (is_too_long_) return;
  note_links(row);
  origins_->follow(row);
  if (const auto& meeting = origins_->meeting(); meeting && !axes_) {
    const Axis left{meeting->rows->array, meeting->rows->axis};
    const Axis right{meeting->columns->array, meeting->columns->axis};
    axes_ = left.first <= right.first ? std::pair(left, right) : std::pair(right, left);
  }
  note_way(row);
  RawFrame& raw = frame_for(row, kind_of(row));
  raw.frame.last_step = row.step;
  if (has_text) raw.frame.texts.push_back(text_number(row.text));
  const bool waits = waiting_.has_value();
  if (!waits) note_reads(row);
  if (row.read && !row.stored) note_move(row, *row.read, raw);
  if (row.stored) note_move(row, *row.stored, raw);
  if (const auto& meeting = origins_->meeting()) raw.place = {meeting->rows, meeting->columns, {}};
  if (row.register_written >= 0) note_write(row, raw, waits ? 0 : frames_.size());
}

FigureFrame::Kind FigureRecorder::kind_of(const TraceRow& row) const {
  const InstructionSpec& spec = instruction_set()[row.instruction->row];
  if (spec.is_update()) return Kind::kUpdate;
  if (row.stored) return Kind::kStore;
  if (row.read) return Kind::kLoad;
  if (spec.flop_kind != FlopKind::kProduct) return Kind::kCompute;
  return origins_->meeting() ? Kind::kMeeting : Kind::kProduct;
}

/// Steps that only compute share a frame. Constants wait for what they are for.
FigureRecorder::RawFrame& FigureRecorder::frame_for(const TraceRow& row, Kind kind) {
  const std::uint32_t pass = row.instruction->pass;
  if (has_constant(instruction_set()[row.instruction->row])) {
    if (!waiting_) waiting_.emplace();
    waiting_->frame.pass = pass;
    return *waiting_;
  }
  const bool goes_on = kind == Kind::kCompute && !waiting_ && !frames_.empty() &&
                       frames_.back().frame.kind == kind && frames_.back().frame.pass == pass;
  if (goes_on) return frames_.back();
  frames_.push_back(waiting_ ? std::move(*waiting_) : RawFrame());
  waiting_.reset();
  is_too_long_ |= frames_.size() > kMostFrames;
  RawFrame& raw = frames_.back();
  for (std::size_t i = 0; i < raw.frame.writes.size(); ++i) {
    const auto number = static_cast<std::size_t>(raw.frame.writes[i].register_number);
    holders_[number] = Holder{frames_.size(), i};
  }
  raw.frame.kind = kind;
  raw.frame.pass = pass;
  return raw;
}

void FigureRecorder::note_reads(const TraceRow& row) {
  for (const std::int64_t number : row.register_reads) {
    const auto& holder = holders_[static_cast<std::size_t>(number)];
    if (!holder) continue;
    frames_[holder->frame - 1].frame.writes[holder->write].last_read = frames_.size();
  }
}

/// `number`: of the frame; 0 if it waits.
void FigureRecorder::note_write(const TraceRow& row, RawFrame& raw, std::size_t number) {
  FigureWrite write;
  write.register_number = row.register_written;
  write.rows = row.value.rows;
  write.columns = row.value.cols;
  if (!row.value.is_tile()) {
    write.elements = {row.value.number};
  } else if (row.value.elements.size() <= kFigureElements) {
    write.elements = row.value.elements;
  }
  const TileOrigin origin = origins_->of(row.register_written);
  RawPlace place{origin.rows, origin.columns, std::nullopt};
  if (origin.tile) place.array = origin.tile->array;
  std::vector<FigureWrite>& writes = raw.frame.writes;
  const auto same = std::find_if(writes.begin(), writes.end(), [&](const FigureWrite& one) {
    return one.register_number == write.register_number;
  });
  const auto at = static_cast<std::size_t>(same - writes.begin());
  if (same == writes.end()) {
    writes.push_back(std::move(write));
    raw.writes.push_back(std::move(place));
  } else {
    *same = std::move(write);
    raw.writes[at] = std::move(place);
  }
  auto& holder = holders_[static_cast<std::size_t>(row.register_written)];
  holder.reset();
  if (number > 0) holder = Holder{number, at};
}

void FigureRecorder::note_move(const TraceRow& row, const TraceCell& cell, RawFrame& raw) const {
  const InstructionSpec& spec = instruction_set()[row.instruction->row];
  const BoundArray& array = program_->arrays[cell.array];
  raw.frame.array = cell.array;
  raw.frame.elements = row.work;
  raw.frame.bytes = row.work * element_bytes(array.element_type) * (spec.is_update() ? 2 : 1);
  const std::size_t rank = cell.indices.size();
  if (rank > 1) raw.place.rows = TileStrip{cell.array, rank - 2, cell.indices[rank - 2], {}};
  if (rank > 0) raw.place.columns = TileStrip{cell.array, rank - 1, cell.indices[rank - 1], {}};
  raw.place.array = cell.array;
  if (row.stored) raw.frame.register_number = row.register_reads.front();
}

/// The inner sides of a product belong together, and so do the sides of a register and of the tile
/// that it is stored to.
void FigureRecorder::note_links(const TraceRow& row) {
  const auto link = [&](const std::optional<TileStrip>& a, const std::optional<TileStrip>& b) {
    if (a && b) links_.push_back({{a->array, a->axis}, {b->array, b->axis}});
    if (links_.size() > kMostFrames) links_.resize(kMostFrames);
  };
  const InstructionSpec& spec = instruction_set()[row.instruction->row];
  if (spec.flop_kind == FlopKind::kProduct) {
    const TileOrigin left = origins_->of(row.register_reads[0]);
    const TileOrigin right = origins_->of(row.register_reads[1]);
    const auto& operands = row.instruction->operands;
    link(operands[0].transposed ? left.rows : left.columns,
         operands[1].transposed ? right.columns : right.rows);
  } else if (row.stored && row.stored->indices.size() == 2) {
    const TileOrigin origin = origins_->of(row.register_reads.front());
    link(origin.rows, TileStrip{row.stored->array, 0, 0, {}});
    link(origin.columns, TileStrip{row.stored->array, 1, 0, {}});
  }
}

/// "max(M, X)": the effect of a step in names of registers.
std::string FigureRecorder::effect_text(const TraceRow& row) const {
  const InstructionSpec& spec = instruction_set()[row.instruction->row];
  std::string text(spec.effect.substr(spec.effect.find("= ") + 2));
  std::string names(spec.operand_names);
  std::size_t reads = 0, at = 0;
  for (const BoundOperand& operand : row.instruction->operands) {
    const std::size_t end = std::min(names.find(", ", at), names.size());
    const std::string name = names.substr(at, end - at);
    at = end + 2;
    if (!is_register_read(operand.kind)) continue;
    const std::string by = program_->register_name(row.register_reads[reads++]);
    replace_word(text, name, by + (operand.transposed ? "ᵀ" : ""));
  }
  replace_word(text, " x ", spec.flop_kind == FlopKind::kProduct ? " × " : " · ");
  return text;
}

void FigureRecorder::note_way(const TraceRow& row) {
  if (row.register_written < 0) return;
  const InstructionSpec& spec = instruction_set()[row.instruction->row];
  Ways& ways = ways_[{row.instruction->pass, row.register_written}];
  if (has_constant(spec)) return;
  ways.is_column &= row.value.cols == 1;
  if (row.read) {
    ways.loaded = program_->arrays[row.read->array].name;
    return;
  }
  const auto& reads = row.register_reads;
  const bool is_self = std::find(reads.begin(), reads.end(), row.register_written) != reads.end();
  std::string text = effect_text(row);
  if (spec.flop_kind == FlopKind::kProduct) {
    text = text.substr(0, text.find(" + "));
    (is_self ? ways.sum_of_products : ways.product) = text;
    if (const auto& meeting = origins_->meeting()) {
      const auto name = [&](const TileStrip& strip) { return program_->arrays[strip.array].name; };
      ways.meeting = name(*meeting->rows) + "·" + name(*meeting->columns) + "ᵀ";
      ways.met = {{meeting->rows->array, meeting->rows->axis},
                  {meeting->columns->array, meeting->columns->axis}};
    }
  } else if (spec.flop_kind == FlopKind::kExponential && text.starts_with("exp(")) {
    ways.exponential = text;
    const TileOrigin at = origins_->of(row.register_written);
    if (at.rows && at.columns) {
      ways.exponential_at = {{at.rows->array, at.rows->axis},
                             {at.columns->array, at.columns->axis}};
    }
  } else if (is_self && text.starts_with("max(")) {
    ways.is_maximum = true;
  } else if (is_self && spec.flop_kind == FlopKind::kElementwise &&
             text.find(" + ") != std::string::npos) {
    ways.is_sum = true;
  }
  ways.texts[row.instruction->row] = text;
}

/// Whether a product of these two belongs into the matrix.
bool FigureRecorder::is_pair(const Axis& a, const Axis& b) const {
  const FigureSide first = side_of(a.first, a.second), second = side_of(b.first, b.second);
  return first != second && first != FigureSide::kNone && second != FigureSide::kNone;
}

/// Words for what all writes of a register have in common.
std::string FigureRecorder::role_text(const Ways& ways) const {
  if (ways.met && is_pair(ways.met->first, ways.met->second)) return ways.meeting + " of this pair";
  if (!ways.sum_of_products.empty()) return "sum of " + ways.sum_of_products + " so far";
  if (ways.is_maximum && ways.is_column) return "row maximum so far";
  if (ways.is_sum && ways.is_column) return "row sum so far";
  if (!ways.exponential.empty()) {
    const auto& at = ways.exponential_at;
    return at && is_pair(at->first, at->second) ? ways.exponential + " of this pair"
                                                : "factor of each row, " + ways.exponential;
  }
  if (!ways.loaded.empty() && ways.product.empty()) return "tile of " + ways.loaded;
  if (ways.texts.size() == 1 && ways.loaded.empty()) return ways.texts.begin()->second;
  return ways.texts.empty() ? "" : "scratch";
}

std::size_t FigureRecorder::text_number(const std::string& text) {
  const auto [at, is_new] = text_numbers_.emplace(text, texts_.size());
  if (is_new) texts_.push_back(text);
  return at->second;
}

/// Where rows and columns of the matrix have the same extent, links tell which axis is which.
void FigureRecorder::spread_sides() {
  sides_[axes_->second] = FigureSide::kColumns;
  sides_[axes_->first] = FigureSide::kRows;
  const std::set<std::pair<Axis, Axis>> links(links_.begin(), links_.end());
  for (std::size_t before = 0; before != sides_.size();) {
    before = sides_.size();
    for (const auto& [a, b] : links) {
      if (sides_.contains(a)) sides_.emplace(b, sides_.at(a));
      if (sides_.contains(b)) sides_.emplace(a, sides_.at(b));
    }
  }
}

FigureSide FigureRecorder::side_of(std::uint32_t array, std::size_t axis) const {
  const auto extent = [&](const Axis& one) {
    const ExpressionPtr& text = program_->arrays[one.first].extent_expressions[one.second];
    return text ? to_string(*text) : "";
  };
  const std::string rows = extent(axes_->first), columns = extent(axes_->second);
  const std::string own = extent({array, axis});
  if (own != rows && own != columns) return FigureSide::kNone;
  if (rows != columns) return own == rows ? FigureSide::kRows : FigureSide::kColumns;
  const auto known = sides_.find({array, axis});
  return known == sides_.end() ? FigureSide::kRows : known->second;
}

FigurePlace FigureRecorder::placed(const RawPlace& raw) const {
  FigurePlace place;
  place.array = raw.array;
  for (const auto* strip : {&raw.rows, &raw.columns}) {
    if (!*strip) continue;
    const FigureSide side = side_of((*strip)->array, (*strip)->axis);
    if (side == FigureSide::kRows) place.row = (*strip)->index;
    if (side == FigureSide::kColumns) place.column = (*strip)->index;
  }
  return place;
}

FigureAxis FigureRecorder::axis_of(const Axis& axis) const {
  const BoundArray& array = program_->arrays[axis.first];
  FigureAxis result{axis.first, array.extents[axis.second], array.tile[axis.second],
                    array.counts[axis.second], std::nullopt};
  const ArrayDeclaration& declared = program_->program->arrays[axis.first];
  const Expression* tile = declared.tile_along(axis.second);
  if (tile != nullptr && tile->op == ExpressionOp::kParam) result.param = tile->index;
  return result;
}

std::vector<FigureArray> FigureRecorder::moved_arrays() const {
  std::map<std::uint32_t, FigureArray> moved;
  for (const RawFrame& raw : frames_) {
    const FigureFrame& frame = raw.frame;
    if (frame.bytes == 0) continue;
    FigureArray& array = moved[frame.array];
    array.array = frame.array;
    if (frame.kind == Kind::kLoad) array.bytes_loaded += frame.bytes;
    if (frame.kind == Kind::kStore) array.bytes_stored += frame.bytes;
    if (frame.kind == Kind::kUpdate) array.bytes_updated += frame.bytes;
  }
  std::vector<FigureArray> result;
  for (auto& [number, array] : moved) {
    array.side = side_of(number, 0);
    array.is_matrix = program_->arrays[number].extents.size() == 2 &&
                      array.side == FigureSide::kRows && side_of(number, 1) == FigureSide::kColumns;
    result.push_back(array);
  }
  return result;
}

std::optional<FigureRun> FigureRecorder::finish(std::string& why_not) {
  if (waiting_) {
    frames_.push_back(std::move(*waiting_));
    waiting_.reset();
  }
  if (is_too_long_) {
    why_not = "it has more than " + std::to_string(kMostFrames) + " pictures or " +
              std::to_string(kMostFigureSteps) + " steps";
    return std::nullopt;
  }
  if (!axes_) {
    why_not = "it multiplies no two loaded tiles";
    return std::nullopt;
  }
  FigureRun run;
  run.program = program_;
  run.rows = axis_of(axes_->first);
  run.columns = axis_of(axes_->second);
  for (const auto* axis : {&axes_->first, &axes_->second}) {
    const BoundArray& array = program_->arrays[axis->first];
    if (array.extents.size() == 2 && array.counts[axis->second] <= kMostFigureTiles) continue;
    why_not = array.name + (array.extents.size() == 2
                                ? " has more than " + std::to_string(kMostFigureTiles) +
                                      " tiles along a side of the matrix"
                                : " has more than two axes");
    return std::nullopt;
  }
  spread_sides();
  run.arrays = moved_arrays();
  for (const auto& [key, ways] : ways_) {
    run.roles.push_back({key.first, key.second, role_text(ways)});
  }
  run.texts = std::move(texts_);
  for (RawFrame& raw : frames_) {
    raw.frame.place = placed(raw.place);
    const bool is_pair = raw.frame.place.row && raw.frame.place.column;
    if (raw.frame.kind == Kind::kMeeting && !is_pair) raw.frame.kind = Kind::kProduct;
    for (std::size_t i = 0; i < raw.writes.size(); ++i) {
      raw.frame.writes[i].place = placed(raw.writes[i]);
    }
    run.frames.push_back(std::move(raw.frame));
  }
  return run;
}

}  // namespace flashlab::toy
