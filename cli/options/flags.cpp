#include "cli/options/flags.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <concepts>
#include <map>
#include <optional>

#include "text/read_number.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

/// The type of one value: double of optional<double>, of vector<double>.
template <class Value>
struct OneValue {
  using Type = Value;
};
template <class Value>
struct OneValue<std::optional<Value>> {
  using Type = Value;
};
template <class Value>
struct OneValue<std::vector<Value>> {
  using Type = Value;
};

/// Reads a text as the parser will, and returns what is wrong with it. Digits are decimal: the parser would
/// read 010 as 8.
template <class Number>
std::string number_problem(std::string& text) {
  const std::string shown = "'" + printable(text) + "'";
  double number = 0;
  if (!read_whole(text, number)) return shown + " is not a number";
  if (!std::isfinite(number)) return shown + " is not a finite number";
  if constexpr (std::integral<Number>) {
    Number whole = 0;
    if (!read_whole(text, whole)) {
      if (std::floor(number) != number || text.find_first_of(".eE") != std::string::npos)
        return shown + " is not a whole number";
      return std::unsigned_integral<Number> && number < 0 ? shown + " is less than 0"
                                                          : shown + " is too large";
    }
    text = std::to_string(whole);
  }
  return {};
}

std::map<const CLI::Option*, FileRole>& file_roles() {
  static std::map<const CLI::Option*, FileRole> roles;
  return roles;
}

}  // namespace

Flag Flag::file(FileRole role) const {
  file_roles()[option_] = role;
  return *this;
}

std::vector<NamedFile> named_files(const CLI::App& command) {
  std::vector<NamedFile> files;
  for (const CLI::Option* option : command.get_options()) {
    const auto role = file_roles().find(option);
    if (role == file_roles().end()) continue;
    for (const std::string& value : option->results()) {
      std::string name = value;
      if (role->second == FileRole::kValues) {
        const std::size_t equals = value.find('=');
        if (equals == std::string::npos) continue;
        name = value.substr(equals + 1);
      }
      files.push_back({option->get_name(), std::move(name), role->second});
    }
  }
  return files;
}

Flag Flag::type_name(const std::string& name) const { return Flag(option_->type_name(name)); }
Flag Flag::group(const std::string& name) const { return Flag(option_->group(name)); }
Flag Flag::default_str(const std::string& value) const { return Flag(option_->default_str(value)); }
Flag Flag::capture_default_str() const { return Flag(option_->capture_default_str()); }

Flag Flag::required() const { return Flag(option_->required()); }
Flag Flag::expected(int least, int most) const { return Flag(option_->expected(least, most)); }
Flag Flag::allow_extra_args(bool allows) const { return Flag(option_->allow_extra_args(allows)); }
Flag Flag::delimiter(char separator) const { return Flag(option_->delimiter(separator)); }
Flag Flag::excludes(const Flag& other) const { return Flag(option_->excludes(other.option_)); }

Flag Flag::one_of(std::vector<std::string> all) const {
  return Flag(option_->check(CLI::IsMember(std::move(all))));
}
Flag Flag::between(int low, int high) const { return Flag(option_->check(CLI::Range(low, high))); }
Flag Flag::between(unsigned low, unsigned high) const {
  return Flag(option_->check(CLI::Range(low, high)));
}
Flag Flag::between(std::int64_t low, std::int64_t high) const {
  return Flag(option_->check(CLI::Range(low, high)));
}
Flag Flag::between(std::size_t low, std::size_t high) const {
  return Flag(option_->check(CLI::Range(low, high)));
}
Flag Flag::between(double low, double high) const {
  return Flag(option_->check(CLI::Range(low, high)));
}
Flag Flag::each(const std::function<void(const std::string&)>& call) const {
  return Flag(option_->each(call));
}

template <class Value>
Flag add_option(CLI::App& command, const std::string& names, Value& value,
                const std::string& help) {
  CLI::Option* const option = command.add_option(names, value, help);
  using One = typename OneValue<Value>::Type;
  if constexpr (std::is_arithmetic_v<One>) {
    option->check(CLI::Validator(number_problem<One>, std::string()));
  }
  return Flag(option);
}

Flag add_flag(CLI::App& command, const std::string& names, bool& is_given,
              const std::string& help) {
  return Flag(command.add_flag(names, is_given, help)->disable_flag_override());
}

void note_if_given(CLI::App& command, const std::string& group, bool& is_given) {
  command.parse_complete_callback([&command, &is_given, group] {
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_group() == group && option->count() > 0) is_given = true;
    }
  });
}

template Flag add_option(CLI::App&, const std::string&, std::string&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::vector<std::string>&,
                         const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::optional<std::string>&,
                         const std::string&);
template Flag add_option(CLI::App&, const std::string&, int&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, unsigned&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::int64_t&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::uint64_t&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, double&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::vector<std::int64_t>&,
                         const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::optional<int>&, const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::optional<std::int64_t>&,
                         const std::string&);
template Flag add_option(CLI::App&, const std::string&, std::optional<double>&, const std::string&);

}  // namespace flashlab::cli
