// `flashlab figure`: a run as a figure that moves.
#include <iostream>
#include <memory>

#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/picture/figure_pages.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "figure_page_files.hpp"
#include "text/markup.hpp"
#include "text/page.hpp"

namespace flashlab::cli {
namespace {

struct FigureFlags : FigureRequest {
  std::string html, svg;
};

/// In JSON, "<" is only in strings; without it no text can end the script element.
void write_data(std::ostream& out, const std::string& json) {
  for (const char byte : json) {
    if (byte == '<') {
      out << "\\u003c";
    } else {
      out << byte;
    }
  }
}

/// The bytes of every choice, for a reader whose browser runs no script.
void write_sizes(std::ostream& out, const Figure& figure) {
  out << "<table class=\"sizes\">\n<caption>Bytes by the size of tiles</caption>\n<thead><tr>";
  for (const toy::FigureSlider& slider : figure.sliders) {
    out << "<th scope=\"col\">" << markup_text(slider.param) << "</th>";
  }
  out << "<th scope=\"col\">loaded</th><th scope=\"col\">stored</th>";
  const auto& beside = figure.shown().beside;
  if (beside) {
    out << "<th scope=\"col\">" << beside->program << " loads</th><th scope=\"col\">"
        << beside->program << " stores</th>";
  }
  out << "</tr></thead>\n<tbody>\n";
  for (const toy::FigureChoice& choice : figure.choices) {
    out << "<tr>";
    for (const std::int64_t value : choice.values) out << "<td>" << value << "</td>";
    if (choice.run) {
      const toy::FigureArray sum = choice.run->totals();
      out << "<td>" << sum.bytes_loaded + sum.bytes_updated / 2 << "</td><td>"
          << sum.bytes_stored + sum.bytes_updated / 2 << "</td>";
    } else {
      out << "<td colspan=\"2\">" << markup_text(choice.why_not) << "</td>";
    }
    if (beside && choice.beside) {
      out << "<td>" << choice.beside->loaded << "</td><td>" << choice.beside->stored << "</td>";
    } else if (beside) {
      out << "<td></td><td></td>";
    }
    out << "</tr>\n";
  }
  out << "</tbody>\n</table>";
}

/// What each register is for.
void write_roles(std::ostream& out, const toy::FigureRun& run) {
  const std::vector<std::string>& passes = run.program->program->passes;
  for (const toy::FigureRole& role : run.roles) {
    if (role.text.empty()) continue;
    const std::string& pass = passes[role.pass];
    out << "<li><b>" << markup_text(run.program->register_name(role.register_number)) << "</b> "
        << markup_text(role.text + (pass.empty() ? "" : " (pass " + pass + ")")) << "</li>\n";
  }
}

int write_figure(const FigureFlags& flags) {
  if (flags.html.empty() && flags.svg.empty()) {
    throw request_failure("a figure needs a file",
                          "--html FILE for the page that moves, or --svg FILE for stills");
  }
  const Figure figure = make_figure(flags);
  const auto write = [&](const std::string& file, const auto& content) {
    if (file.empty()) return;
    write_file(file, content);
    if (file != "-") std::cerr << "flashlab: wrote " << file << "\n";
  };
  write(flags.html, [&](std::ostream& out) { write_figure_page(figure, out); });
  write(flags.svg, [&](std::ostream& out) { out << figure_stills_svg(figure); });
  return kExitGood;
}

}  // namespace

void write_figure_page(const Figure& figure, std::ostream& out) {
  const std::string title = figure.shown().run->program->program->title;
  const std::string name = figure.loaded.short_name();
  const std::string style = page_style(file_text(figure_page_files, "figure.css"));
  write_page(
      out, file_text(figure_page_files, "figure.html"),
      {{"name", [&](std::ostream& o) { o << markup_text(name); }},
       {"title", [&](std::ostream& o) { o << markup_text(title.empty() ? name : title); }},
       {"style", [&](std::ostream& o) { o << style; }},
       {"facts",
        [&](std::ostream& o) {
          o << kept_together(markup_text(name + ", " + setting(*figure.programs.front())));
        }},
       {"stills", [&](std::ostream& o) { o << figure_stills_svg(figure); }},
       {"roles", [&](std::ostream& o) { write_roles(o, *figure.shown().run); }},
       {"sizes", [&](std::ostream& o) { write_sizes(o, figure); }},
       {"data", [&](std::ostream& o) { write_data(o, figure.json()); }},
       {"script", [&](std::ostream& o) { o << file_text(figure_page_files, "figure.js"); }}});
}

CommandAction add_figure(CLI::App& app) {
  auto options = std::make_shared<FigureFlags>();
  CLI::App& command = add_command(
      app, "figure", "Show which tile meets which, as a page that moves",
      "  flashlab figure flash2 --html flash2.html       q stays, k and v stream past\n"
      "  flashlab figure bwd_onepass -D n=16 --html backward.html\n"
      "  flashlab figure mine.toy --svg stills.svg       a row of stills, without a script\n");
  add_program_argument(command, options->program);
  add_option(command, "--html", options->html, "write the page to this file, - for standard output")
      .file(FileRole::kOutput)
      .type_name("FILE");
  add_option(command, "--svg", options->svg, "write stills to this file, - for standard output")
      .file(FileRole::kOutput)
      .type_name("FILE");
  options->machine.add_to(command, true);
  options->run.add_to(command);
  return [options] { return write_figure(*options); };
}

}  // namespace flashlab::cli
