#include "text/page.hpp"

#include "page_style_files.hpp"

namespace flashlab {

std::string page_style(std::string_view own_rules) {
  return std::string(file_text(page_style_files, "page.css")) + std::string(own_rules);
}

void write_page(std::ostream& out, std::string_view page, const PageParts& parts) {
  constexpr std::string_view kOpen = "{{", kClose = "}}";
  for (;;) {
    const std::size_t open = page.find(kOpen);
    out << page.substr(0, open);
    if (open == std::string_view::npos) return;
    const std::size_t close = page.find(kClose, open);
    parts.at(page.substr(open + kOpen.size(), close - open - kOpen.size()))(out);
    page.remove_prefix(close + kClose.size());
  }
}

}  // namespace flashlab
