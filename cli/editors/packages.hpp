// What each editor needs for programs of the machine: the server, the debugger, and colours.
#pragma once

#include <map>
#include <string>

namespace flashlab::cli {

/// Returns the files of an extension for Visual Studio Code, by their paths in its .vsix package.
/// `program` is the command that it starts, unless the user's settings name another one.
std::map<std::string, std::string> vscode_package(const std::string& program);

/// Return a configuration file, in the editor's language.
std::string neovim_configuration(const std::string& program);
std::string emacs_configuration(const std::string& program);
std::string helix_configuration(const std::string& program);

}  // namespace flashlab::cli
