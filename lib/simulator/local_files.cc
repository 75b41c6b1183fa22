#include "lib/simulator/local_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace interlock::simulator {
namespace {

namespace fs = std::filesystem;

void AddMatching(const InputSpec& input, std::vector<std::string>& files) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(input.base_dir, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_regular_file(error) && fnmatch(input.filter.c_str(), name.c_str(), 0) == 0) {
      files.push_back(at->path().string());
    }
  }
}

}  // namespace

std::vector<std::string> LocalFiles(const InputSpec& input) {
  std::vector<std::string> files;
  std::error_code error;
  for (const std::string& file : input.files) {
    if (fs::is_regular_file(file, error)) files.push_back(file);
  }
  if (!input.base_dir.empty()) AddMatching(input, files);
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace interlock::simulator
