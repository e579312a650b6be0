// Reads the program to beat, and the GPU that it runs on, from exercise.toml.
#include "exercises/grader/exercise/read_program.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {

void PartReader::read_speed(TomlTable& table) {
  constexpr std::int64_t kMostCopies = 65535, kMostShared = std::int64_t{227} << 10;
  constexpr double kMostPoints = 1e6;
  Speed speed;
  const std::string file = table.required_line("given");
  if (!file.empty()) speed.given = program(file, &table, "given");
  if (const toml::table* size = table.table("size")) {
    speed.size = read_size(*size);
  } else if (!table.has("size")) {
    table.missing("size", "size = { n = 4096 }: a value for each parameter of the sizes");
  }
  const bool has_sizes = !exercise.program.sizes.empty() && !speed.size.empty();
  for (const auto& [name, value] : has_sizes ? exercise.program.sizes.front() : Size()) {
    if (!speed.size.contains(name)) table.wrong("size", "it has no " + name, name + " = …");
  }
  speed.batch = table.whole("batch", speed.batch, 1, kMostCopies);
  speed.heads = table.whole("heads", speed.heads, 1, kMostCopies);
  if (speed.batch * speed.heads > kMostCopies) {
    table.wrong("heads", "batch times heads is " + std::to_string(speed.batch * speed.heads),
                "at most " + std::to_string(kMostCopies));
  }
  speed.level = static_cast<int>(table.whole("level", speed.level, 0, 1));
  speed.dtype = table.line("dtype", speed.dtype);
  const bool is_narrow = speed.dtype == "bf16" || speed.dtype == "fp16";
  if (!is_narrow && (speed.dtype != "float" || speed.level == 1)) {
    table.wrong("dtype", "'" + printable(speed.dtype) + "' at level " + std::to_string(speed.level),
                "bf16 or fp16, or float at level 0");
  }
  speed.gpu = table.line("gpu", speed.gpu);
  speed.shared_bytes = table.whole("shared_bytes", speed.shared_bytes, 1024, kMostShared);
  speed.points = table.number("points", speed.points);
  if (!(speed.points > 0 && speed.points <= kMostPoints)) {
    table.wrong("points", "out of range", "more than 0, at most 1000000");
  }
  if (speed.given != nullptr) exercise.program.speed = std::move(speed);
}

}  // namespace flashlab::exercises
