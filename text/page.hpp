// HTML pages that a program fills in: the style that all pages share, and templates with marks.
#pragma once

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

namespace flashlab {

/// Colours, fonts and basic elements of every page, followed by the page's own rules.
std::string page_style(std::string_view own_rules);

/// What is written in place of the mark {{name}}.
using PageParts = std::map<std::string_view, std::function<void(std::ostream&)>>;

/// Writes the template with every mark replaced. Throws std::out_of_range for an unknown mark.
void write_page(std::ostream& out, std::string_view page, const PageParts& parts);

}  // namespace flashlab
