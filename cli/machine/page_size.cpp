#include "cli/machine/page_size.hpp"

#include <streambuf>

#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

constexpr std::uint64_t kLargePage = 5'000'000;

class SizeNote : public std::streambuf {
 public:
  SizeNote(std::streambuf& sink, const std::string& advice) : sink_(sink), advice_(advice) {}
  std::uint64_t bytes() const { return bytes_; }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const std::uint64_t after = bytes_ + static_cast<std::uint64_t>(size);
    if (bytes_ <= kLargePage && after > kLargePage) {
      print_note("the page gets larger than 5 MB; " + advice_);
    }
    bytes_ = after;
    return sink_.sputn(text, size);
  }
  int sync() override { return sink_.pubsync(); }

 private:
  std::streambuf& sink_;
  const std::string& advice_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::uint64_t write_with_size_note(std::ostream& out, const std::string& advice,
                                   const std::function<void(std::ostream&)>& write) {
  SizeNote note(*out.rdbuf(), advice);
  std::ostream stream(&note);
  write(stream);
  if (!stream) out.setstate(std::ios::badbit);
  return note.bytes();
}

}  // namespace flashlab::cli
