// Writes zip archives.
#pragma once

#include <map>
#include <string>

namespace flashlab::cli {

/// Returns a zip archive of these files, by their paths in it. They are stored, not compressed, and have
/// no time, so that the same files always give the same bytes. Paths are ASCII. Throws
/// std::length_error if the archive has 4 GiB or 65 536 files. Format: APPNOTE.TXT of PKWARE, 4.3.
std::string zip_archive(const std::map<std::string, std::string>& files);

}  // namespace flashlab::cli
