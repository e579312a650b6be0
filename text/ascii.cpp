#include "text/ascii.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>

#include "text/utf8.hpp"

namespace flashlab {
namespace {

struct Spelling {
  char32_t code;
  const char* text;
};

// By code. What Unicode itself decomposes (½, …, é, superscripts) needs no row.
constexpr std::array<Spelling, 92> kSpellings{{
    {U'\u00A7', "section "}, {U'\u00AB', "\""},      {U'\u00AD', ""},      {U'\u00B0', " deg"},
    {U'\u00B1', "+-"},       {U'\u00B5', "u"},       {U'\u00B7', "*"},     {U'\u00BB', "\""},
    {U'\u00D7', "x"},        {U'\u00DF', "ss"},      {U'\u00E6', "ae"},    {U'\u00F7', "/"},
    {U'\u00F8', "o"},        {U'\u0393', "Gamma"},   {U'\u0394', "Delta"}, {U'\u03A3', "Sum"},
    {U'\u03A9', "Omega"},    {U'\u03B1', "alpha"},   {U'\u03B2', "beta"},  {U'\u03B3', "gamma"},
    {U'\u03B4', "delta"},    {U'\u03B5', "epsilon"}, {U'\u03B7', "eta"},   {U'\u03B8', "theta"},
    {U'\u03BB', "lambda"},   {U'\u03BC', "u"},       {U'\u03C0', "pi"},    {U'\u03C1', "rho"},
    {U'\u03C3', "sigma"},    {U'\u03C4', "tau"},     {U'\u03C6', "phi"},   {U'\u03C9', "omega"},
    {U'\u2010', "-"},        {U'\u2011', "-"},       {U'\u2012', "-"},     {U'\u2013', "-"},
    {U'\u2014', "-"},        {U'\u2016', "||"},      {U'\u2018', "'"},     {U'\u2019', "'"},
    {U'\u201C', "\""},       {U'\u201D', "\""},      {U'\u201E', "\""},    {U'\u2022', "*"},
    {U'\u2032', "'"},        {U'\u2033', "''"},      {U'\u2039', "<"},     {U'\u203A', ">"},
    {U'\u2044', "/"},        {U'\u20AC', "EUR"},     {U'\u2190', "<-"},    {U'\u2191', "^"},
    {U'\u2192', "->"},       {U'\u2193', "v"},       {U'\u2194', "<->"},   {U'\u21A6', "->"},
    {U'\u21D0', "<="},       {U'\u21D2', "=>"},      {U'\u21D4', "<=>"},   {U'\u2200', "for all "},
    {U'\u2202', "d"},        {U'\u2203', "exists "}, {U'\u2205', "{}"},    {U'\u2207', "grad "},
    {U'\u2208', " in "},     {U'\u220F', "product"}, {U'\u2211', "sum"},   {U'\u2212', "-"},
    {U'\u2217', "*"},        {U'\u2218', "o"},       {U'\u2219', "*"},     {U'\u221A', "sqrt"},
    {U'\u221D', "~"},        {U'\u221E', "inf"},     {U'\u2223', "|"},     {U'\u2227', "and"},
    {U'\u2228', "or"},       {U'\u223C', "~"},       {U'\u2248', "~"},     {U'\u2260', "!="},
    {U'\u2261', "=="},       {U'\u2264', "<="},      {U'\u2265', ">="},    {U'\u226A', "<<"},
    {U'\u226B', ">>"},       {U'\u2299', "o"},       {U'\u22C5', "*"},     {U'\u2308', "ceil("},
    {U'\u2309', ")"},        {U'\u230A', "floor("},  {U'\u230B', ")"},     {U'\u2713', "x"},
}};
static_assert(std::is_sorted(kSpellings.begin(), kSpellings.end(),
                             [](const Spelling& a, const Spelling& b) { return a.code < b.code; }));

/// The characters that draw tables, bars and marks.
std::optional<char> drawing(char32_t code) {
  if (code >= 0x2500 && code <= 0x257F) {
    constexpr std::u32string_view kFlat = U"─━┄┅┈┉╌╍═╴╶╸╺╼╾", kUpright = U"│┃┆┇┊┋╎╏║╵╷╹╻╽╿";
    if (kFlat.find(code) != kFlat.npos) return '-';
    return kUpright.find(code) != kUpright.npos ? '|' : '+';
  }
  if (code >= 0x2591 && code <= 0x2593) return ':';  // shades
  if (code >= 0x2580 && code <= 0x259F) return '#';
  if (code == 0x25B6 || code == 0x25B8 || code == 0x25BA) return '>';
  if (code == 0x25C0 || code == 0x25C2 || code == 0x25C4) return '<';
  if (code == 0x25B2 || code == 0x25B4) return '^';
  if (code == 0x25BC || code == 0x25BE) return 'v';
  if (code >= 0x25A0 && code <= 0x25FF) return 'o';
  if (code >= 0x2800 && code <= 0x28FF) return code == 0x2800 ? ' ' : ':';  // Braille, of plots
  if (code == 0x2714) return 'x';
  if (code == 0x2717 || code == 0x2718 || code == 0x2715) return '-';
  return std::nullopt;
}

enum class Height { kLine, kSuper, kSub };

Height height_of(char32_t code) {
  switch (utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->decomp_type) {
    case UTF8PROC_DECOMP_TYPE_SUPER:
      return Height::kSuper;
    case UTF8PROC_DECOMP_TYPE_SUB:
      return Height::kSub;
    default:
      return Height::kLine;
  }
}

std::string spelling_of(char32_t code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  const auto* const found =
      std::lower_bound(kSpellings.begin(), kSpellings.end(), code,
                       [](const Spelling& row, char32_t wanted) { return row.code < wanted; });
  if (found != kSpellings.end() && found->code == code) return found->text;
  if (const auto sign = drawing(code)) return std::string(1, *sign);
  std::array<utf8proc_int32_t, 32> parts{};
  int boundary = 0;
  const auto count = utf8proc_decompose_char(
      static_cast<utf8proc_int32_t>(code), parts.data(), parts.size(),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_STRIPMARK),
      &boundary);
  if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) return "?";
  if (count == 1 && parts[0] == static_cast<utf8proc_int32_t>(code)) return "?";
  std::string text;
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    text += spelling_of(static_cast<char32_t>(parts[static_cast<std::size_t>(i)]));
  }
  return text;
}

/// "^2", "^-1", "_(i+1)": brackets where the end would not be seen.
std::string raised(Height height, const std::string& text) {
  const bool is_plain = std::all_of(text.begin() + (text.starts_with('-') ? 1 : 0), text.end(),
                                    [](char c) { return is_digit(c); }) ||
                        text.size() == 1;
  return (height == Height::kSuper ? "^" : "_") + (is_plain ? text : "(" + text + ")");
}

}  // namespace

std::string in_ascii(std::string_view text) {
  std::string result, run;
  Height height = Height::kLine;
  const auto end_run = [&] {
    if (height != Height::kLine) result += raised(height, run);
    run.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    at += point.bytes;
    const Height here = point.valid ? height_of(point.code) : Height::kLine;
    if (here != height) end_run();
    height = here;
    const std::string spelled = point.valid ? spelling_of(point.code) : "?";
    (here == Height::kLine ? result : run) += spelled;
  }
  end_run();
  return result;
}

}  // namespace flashlab
