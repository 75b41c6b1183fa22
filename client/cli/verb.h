// A verb of interlockctl, as data: what is parsed, what is asked of the server and what
// is printed follow from one row, and so do --help and completion.
#pragma once

#include <vector>

#include "absl/status/statusor.h"

namespace google::protobuf {
class Message;
}

namespace interlock::cli {

struct Session;

// How a flag's text becomes the field that it fills.
enum class Reading {
  kText,  // by the field's type: `10m` a duration, `2026-07-16T13` an instant, …
  kFile,  // the text names a file, or `-` for stdin: its contents are the text
  kJson,  // the same; the contents are a message as JSON
};

struct Flag {
  const char* name;             // without dashes
  const char* value = nullptr;  // `FILE`: what stands for its value; none for a switch
  const char* help = "";
  const char* field = nullptr;  // path in the request; none where the verb reads it itself
  Reading reading = Reading::kText;
  const char* variable = nullptr;  // of the environment: its default
  bool many = false;               // may be given more than once
  bool wanted = false;             // must be given
};

struct Positional {
  const char* name;  // `DATASOURCE`, `[DATASOURCE]` where it may be left out, `INTERVAL...`
  const char* field = nullptr;
  Reading reading = Reading::kText;
};

struct Column {
  const char* title;
  const char* path;  // of the field in the row's message
};

// A table of a reply: one row for each message in `list`; without columns, all that is
// set in the message at `list`, field by field.
struct Section {
  const char* list;
  std::vector<Column> columns = {};
};

struct Verb {
  const char* words;  // `reservations release`
  const char* summary;
  std::vector<Positional> positionals = {};
  std::vector<Flag> flags = {};
  const char* method = "";  // `Reservations.ReleaseReservation`
  std::vector<Section> view = {};
  // The exit status that a reply stands for; none: 0.
  int (*answer)(const google::protobuf::Message& reply) = nullptr;
  // What it does, where that is more than to fill the request in, call and print.
  absl::StatusOr<int> (*run)(Session& session) = nullptr;
  const char* details = "";    // more for --help
  bool takes_command = false;  // `-- COMMAND...`
};

// All of them, in the order of --help.
const std::vector<Verb>& AllVerbs();

// Flags that every verb takes.
const std::vector<Flag>& GlobalFlags();

}  // namespace interlock::cli
