#include "client/cli/session.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/json_file.h"
#include "client/cli/print.h"
#include "client/cli/request_fields.h"
#include "client/cli/shown.h"
#include "google/protobuf/descriptor.h"
#include "lib/time/status_reason.h"

namespace interlock::cli {
namespace {

absl::Status Named(const std::string& what, const absl::Status& status) {
  if (status.ok()) return status;
  absl::Status named(status.code(), absl::StrCat(what, ": ", status.message()));
  return WithReason(std::move(named), ReasonOf(status));
}

absl::Status FillOne(Session& session, google::protobuf::Message& request, const char* field,
                     Reading reading, const std::string& text) {
  if (reading == Reading::kText) {
    return SetField(request, field, text, session.clock.Now());
  }
  auto contents = session.Contents(text);
  if (!contents.ok()) return contents.status();
  if (reading == Reading::kJson) return ReadJson(*contents, request, field);
  return SetField(request, field, *contents, session.clock.Now());
}

// Whether it does something, and not only looks.
bool Changes(const Verb& verb) {
  return std::any_of(verb.flags.begin(), verb.flags.end(),
                     [](const Flag& flag) { return flag.name == std::string("request-id"); });
}

// Far above the largest spec that a server takes; /dev/zero has no end.
constexpr size_t kMostFileBytes = 64 << 20;

}  // namespace

absl::StatusOr<std::string> Session::Contents(const std::string& file) {
  const auto unreadable = [&file](const std::string& why) {
    return WithReason(absl::InvalidArgumentError(absl::StrCat("cannot read ", file, why)),
                      "FILE_NOT_READABLE", {{"file", file}});
  };
  std::error_code error;
  if (file != "-" && std::filesystem::is_directory(file, error)) {
    return unreadable(": it is a folder");
  }
  std::ifstream stream;
  if (file != "-") stream.open(file);
  std::istream& from = file == "-" ? in : stream;
  if (file != "-" && !stream.is_open()) return unreadable("");
  std::string text;
  for (char piece[1 << 16]; from.read(piece, sizeof piece), from.gcount() > 0;) {
    text.append(piece, static_cast<size_t>(from.gcount()));
    if (text.size() > kMostFileBytes) {
      return unreadable(absl::StrCat(": it has more than ", kMostFileBytes, " bytes"));
    }
  }
  if (from.bad()) return unreadable("");
  return text;
}

absl::Status Session::Fill(google::protobuf::Message& request) {
  size_t at = 0;
  const auto& given = arguments.positionals();
  for (const Positional& positional : verb.positionals) {
    const size_t end = IsRepeated(positional) ? given.size() : std::min(at + 1, given.size());
    for (; at < end; ++at) {
      if (positional.field == nullptr) continue;
      const auto status = FillOne(*this, request, positional.field, positional.reading, given[at]);
      if (!status.ok()) return Named(positional.name, status);
    }
  }
  for (const Flag& flag : verb.flags) {
    if (flag.field == nullptr) continue;
    for (const std::string& value : arguments.All(flag.name)) {
      const auto status = FillOne(*this, request, flag.field, flag.reading, value);
      if (!status.ok()) return Named(absl::StrCat("--", flag.name), status);
    }
  }
  return absl::OkStatus();
}

absl::Status Session::Call(const std::string& method, const google::protobuf::Message& request,
                           google::protobuf::Message& reply, absl::Duration longer) {
  return calls.Call(method, request, reply, timeout + longer);
}

void Session::Print(const google::protobuf::Message& reply, const std::vector<Section>& view) {
  if (output == Output::kTable) {
    const std::string text = TableText(reply, view, width);
    if (text.empty()) Tell(view.empty() || Changes(verb) ? "done" : "none");
    out << text << std::flush;
  } else {
    PrintLine(JsonText(reply));
  }
}

void Session::PrintLine(const std::string& text) { out << text << '\n' << std::flush; }

void Session::Complain(const std::string& line) {
  err << "interlockctl: " << Shown(line) << '\n' << std::flush;
}

void Session::Tell(const std::string& line) {
  if (output == Output::kTable) err << Shown(line) << '\n' << std::flush;
}

}  // namespace interlock::cli
