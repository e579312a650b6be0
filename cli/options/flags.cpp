#include "cli/options/flags.hpp"

#include <CLI/CLI.hpp>
#include <optional>

namespace flashlab::cli {

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
  return Flag(command.add_option(names, value, help));
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
