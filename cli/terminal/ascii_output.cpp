#include "cli/terminal/ascii_output.hpp"

#include <iostream>
#include <streambuf>
#include <string>

#include "text/ascii.hpp"

namespace flashlab::cli {
namespace {

/// Passes on whole characters. The last ones wait: a power may go on.
class AsciiOutput : public std::streambuf {
 public:
  AsciiOutput() : sink_(std::cout.rdbuf(this)) {}
  AsciiOutput(const AsciiOutput&) = delete;
  AsciiOutput& operator=(const AsciiOutput&) = delete;

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    waiting_.append(text, static_cast<std::size_t>(size));
    std::size_t end = waiting_.size();
    while (end > 0 && static_cast<unsigned char>(waiting_[end - 1]) >= 0x80) --end;
    return pass_on(end) ? size : 0;
  }
  int sync() override { return pass_on(waiting_.size()) ? sink_->pubsync() : -1; }

 private:
  bool pass_on(std::size_t bytes) {
    if (bytes == 0) return true;
    const std::string text = in_ascii(std::string_view(waiting_).substr(0, bytes));
    waiting_.erase(0, bytes);
    const auto size = static_cast<std::streamsize>(text.size());
    return sink_->sputn(text.data(), size) == size;
  }

  std::streambuf* sink_;
  std::string waiting_;
};

}  // namespace

void print_in_ascii() {
  // Never destroyed: std::cout is flushed last of all.
  static AsciiOutput* output = nullptr;
  if (output == nullptr) output = new AsciiOutput;
}

}  // namespace flashlab::cli
