// `flashlab editor`: writes what an editor needs for programs.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "cli/editors/packages.hpp"
#include "cli/editors/zip.hpp"
#include "cli/options/command_line.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/search_path.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

struct EditorFlags {
  std::string vscode;
  bool neovim = false, emacs = false, helix = false;
};

/// The path of this command, which the editor starts. A link by which it was called stays: what it
/// leads to may be the folder of one version.
std::string own_command() {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path file = fs::read_symlink("/proc/self/exe", code);
  if (code) return "flashlab";
  const std::string& call = called_as();
  const std::string found = call.find('/') == std::string::npos ? found_on_path(call) : call;
  const fs::path path = fs::absolute(found, code).lexically_normal();
  return !found.empty() && fs::equivalent(path, file, code) ? path.string() : file.string();
}

int write_package(const std::string& file) {
  if (!file.ends_with(".vsix")) {
    throw request_failure("'" + printable(file) + "' is no name of a package",
                          "a file such as flashlab.vsix");
  }
  const std::string archive = zip_archive(vscode_package(own_command()));
  write_file(file, [&](std::ostream& stream) { stream << archive; });
  std::cout << "Wrote " << printable(file) << "; `code --install-extension " << printable(file)
            << "` installs it\n";
  return kExitGood;
}

int write_for_editor(const EditorFlags& options) {
  if (!options.vscode.empty()) return write_package(options.vscode);
  if (options.neovim) {
    std::cout << neovim_configuration(own_command());
  } else if (options.emacs) {
    std::cout << emacs_configuration(own_command());
  } else if (options.helix) {
    std::cout << helix_configuration(own_command());
  } else {
    throw request_failure("no editor is named", "--vscode FILE, --neovim, --emacs or --helix");
  }
  return kExitGood;
}

}  // namespace

CommandAction add_editor(CLI::App& app) {
  auto options = std::make_shared<EditorFlags>();
  CLI::App& command =
      add_command(app, "editor", "What an editor needs for programs: costs, errors, debugger",
                  "  flashlab editor --vscode flashlab.vsix\n"
                  "  flashlab editor --neovim > ~/.config/nvim/plugin/flashlab.lua\n"
                  "  flashlab editor --emacs > ~/.emacs.d/flashlab.el\n"
                  "  flashlab editor --helix >> ~/.config/helix/languages.toml\n"
                  "\nThe files start this command with its present path. docs/editors.md goes on "
                  "from there.\n");
  const Flag vscode =
      add_option(command, "--vscode", options->vscode, "write a package for Visual Studio Code")
          .file(FileRole::kOutput)
          .type_name("FILE");
  const Flag neovim = add_flag(command, "--neovim", options->neovim, "print a file for Neovim 0.10")
                          .excludes(vscode);
  const Flag emacs = add_flag(command, "--emacs", options->emacs, "print a file for Emacs 29")
                         .excludes(vscode)
                         .excludes(neovim);
  add_flag(command, "--helix", options->helix, "print a file for Helix")
      .excludes(vscode)
      .excludes(neovim)
      .excludes(emacs);
  return [options] { return write_for_editor(*options); };
}

}  // namespace flashlab::cli
