#include "lib/guard/streams.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lib/druid/json.h"
#include "lib/druid/task_id.h"
#include "lib/guard/guard_errors.h"
#include "lib/guard/mirror.h"
#include "lib/guard/observe.h"
#include "lib/guard/rows.h"
#include "lib/time/duration.h"

namespace interlock::guard {
namespace {

constexpr int64_t kPage = 100;
constexpr int64_t kLongestPage = 1'000;
// In a page token, between datasource and stream: neither can have one.
constexpr char kBetween = '\t';

absl::Status Check(const Registration& registration) {
  const absl::Status named = druid::ValidateDruidName("datasource", registration.datasource);
  if (!named.ok()) {
    return InvalidDatasource(registration.datasource, registration.datasource.empty()
                                                          ? "is missing"
                                                          : "is no name that "
                                                            "Druid takes");
  }
  const bool said = registration.tail || registration.reported_start ||
                    !registration.supervisor_id.empty() || !registration.supervisor_spec.empty();
  if (!said && !registration.accept_unbounded) return TailMissing();
  if (registration.tail && *registration.tail < absl::ZeroDuration()) {
    return TailInvalid("is negative");
  }
  return absl::OkStatus();
}

// Of the look, what is of one stream; null where there is nothing.
const Seen* SeenOf(const std::optional<SeenStreams>& seen, const std::string& datasource,
                   const std::string& supervisor_id) {
  if (!seen) return nullptr;
  const auto found = seen->streams.find({datasource, supervisor_id});
  return found != seen->streams.end() ? &found->second : nullptr;
}

const Seen* Supervising(const std::optional<SeenStreams>& seen, const std::string& id) {
  if (!seen) return nullptr;
  for (const auto& [key, one] : seen->streams) {
    if (one.supervisor && key.second == id) return &one;
  }
  return nullptr;
}

std::string Describe(const Stream& stream) {
  std::string json = absl::StrCat("{\"kind\":\"", NameOf(stream.kind), "\"");
  const Declared& said = stream.declared;
  if (said.tail)
    absl::StrAppend(&json, ",\"tail\":\"", interlock::FormatDuration(*said.tail), "\"");
  if (said.reported_start) {
    absl::StrAppend(&json, ",\"tail_start\":\"", said.reported_start->ToString(), "\"");
  }
  if (said.skip_offset) {
    absl::StrAppend(&json, ",\"skip_offset_from_latest\":\"",
                    interlock::FormatDuration(*said.skip_offset), "\"");
  }
  if (!stream.supervisor_id.empty()) {
    absl::StrAppend(&json, ",\"supervisor\":", druid::QuoteJson(stream.supervisor_id));
  }
  absl::StrAppend(&json, ",\"accept_unbounded_tail\":", stream.accept_unbounded ? "true" : "false",
                  "}");
  return json;
}

// What a new declaration says in place of the former one.
Declared DeclaredBy(const Registration& registration, const druid::Supervisor* spec,
                    const Declared& before) {
  Declared declared;
  declared.tail = registration.tail;
  declared.reported_start = registration.reported_start;
  if (spec != nullptr) {
    declared.has_spec = true;
    declared.bounds = spec->bounds;
    declared.skip_offset = spec->skip_offset;
  }
  const bool only_accepts = !registration.tail && !registration.reported_start && spec == nullptr &&
                            registration.supervisor_id.empty();
  return only_accepts ? before : declared;
}

absl::Status CheckConflict(const Stream& before, const Registration& registration,
                           const druid::Supervisor* spec, const std::string& supervisor_id) {
  if (!supervisor_id.empty() && !before.supervisor_id.empty() &&
      before.supervisor_id != supervisor_id) {
    return StreamConflict(before.datasource, before.name,
                          absl::StrCat("is supervisor ", before.supervisor_id, "'s"));
  }
  if (registration.reported_start && before.kind == Kind::kSupervisor) {
    return StreamConflict(before.datasource, before.name,
                          "is a supervisor's, which does not report its tail");
  }
  if (spec != nullptr && !before.topic.empty() && before.topic != spec->stream) {
    return StreamConflict(before.datasource, before.name,
                          absl::StrCat("reads ", before.topic, " and the spec reads ", spec->stream,
                                       ": posted, it would replace the first; give "
                                       "it another id, or terminate the first"));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<SeenStreams> Streams::LookAt(absl::Status* why) const {
  StreamLook look(cluster_);
  auto seen = look.Look(store_.Now());
  if (!seen.done()) {
    *why = DruidUnavailable(seen.text());
    return std::nullopt;
  }
  return std::move(seen.value());
}

absl::StatusOr<Stream> Streams::Declare(const Registration& registration,
                                        const std::optional<SeenStreams>& seen,
                                        const audit::Caller& caller) const {
  std::optional<druid::Supervisor> spec;
  std::string supervisor_id = registration.supervisor_id;
  if (!registration.supervisor_spec.empty()) {
    auto parsed = druid::ParseSupervisorSpec(registration.supervisor_spec);
    if (!parsed.ok()) return parsed.status();
    if (parsed->datasource != registration.datasource) {
      return OtherDatasource("the spec", parsed->datasource, registration.datasource);
    }
    spec = *std::move(parsed);
    supervisor_id = spec->id;
  } else if (!supervisor_id.empty()) {
    const Seen* there = Supervising(seen, supervisor_id);
    if (there == nullptr) return UnknownSupervisor(supervisor_id);
    if (there->supervisor->datasource != registration.datasource) {
      return OtherDatasource(absl::StrCat("supervisor ", supervisor_id),
                             there->supervisor->datasource, registration.datasource);
    }
  }
  Stream stream;
  stream.datasource = registration.datasource;
  stream.name = !registration.name.empty() ? registration.name
                : !supervisor_id.empty()   ? supervisor_id
                                           : std::string(kDefaultStream);
  std::optional<Stream> before;
  absl::Status status = store_.Read([&](store::Transaction& tx) -> absl::Status {
    auto found = FindStream(tx, stream.datasource, stream.name);
    if (!found.ok()) return found.status();
    before = *std::move(found);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (before) {
    status = CheckConflict(*before, registration, spec ? &*spec : nullptr, supervisor_id);
    if (!status.ok()) return status;
    stream = *before;
  }
  stream.created = before ? before->created : store_.Now();
  stream.declared = DeclaredBy(registration, spec ? &*spec : nullptr, stream.declared);
  stream.is_declared = true;
  stream.accept_unbounded = registration.accept_unbounded;
  stream.registered_by = caller.identity;
  stream.reason = caller.reason;
  stream.request_id = caller.request_id;
  if (!supervisor_id.empty()) {
    stream.kind = Kind::kSupervisor;
    stream.supervisor_id = supervisor_id;
  }
  if (stream.supervisor_id.empty() && SeenOf(seen, stream.datasource, stream.name) != nullptr) {
    stream.kind = Kind::kSupervisor;
    stream.supervisor_id = stream.name;
  }
  return stream;
}

absl::StatusOr<Streams::Told> Streams::Register(const Registration& registration,
                                                bool validate_only, const audit::Caller& caller) {
  absl::Status status = Check(registration);
  if (!status.ok()) return status;
  absl::Status why;
  // An outside stream's report needs nothing of Druid; it comes again and again.
  std::optional<SeenStreams> seen;
  if (!registration.reported_start) seen = LookAt(&why);
  if (!registration.supervisor_id.empty() && !seen) return why;
  auto declared = Declare(registration, seen, caller);
  if (!declared.ok()) return declared.status();
  Stream stream = *std::move(declared);
  const Seen* own = SeenOf(seen, stream.datasource, stream.supervisor_id);
  const auto act = [&](store::Transaction& tx) -> absl::Status {
    auto tail = TailOf(tx, stream, own);
    if (!tail.ok()) return tail.status();
    stream.tail = *tail;
    stream.observed = tx.now();
    return absl::OkStatus();
  };
  if (validate_only) {
    status = store_.Read(act);
  } else {
    status = store_.Write([&](store::Transaction& tx) -> absl::Status {
      absl::Status done = act(tx);
      if (!done.ok()) return done;
      auto before = FindStream(tx, stream.datasource, stream.name);
      if (!before.ok()) return before.status();
      const std::string was =
          *before && (*before)->is_declared ? Describe(**before) : std::string();
      return Store(tx, stream, seen,
                   {"RegisterStream", stream.datasource, stream.name, was, Describe(stream)},
                   caller);
    });
  }
  if (!status.ok()) return status;
  Told told{stream, NoticesOf(stream.tail, stream.declared, own, stream.datasource)};
  return told;
}

// The stream's row, its tail, and those of the datasource's others, which a default concerns.
absl::Status Streams::Store(store::Transaction& tx, const Stream& stream,
                            const std::optional<SeenStreams>& seen, const Declaration& change,
                            const audit::Caller& caller) const {
  absl::Status status = PutStream(tx, stream);
  if (status.ok()) status = MirrorTail(tx, stream, options_);
  if (status.ok() && record_ && change.before != change.after) {
    status = record_(tx, change, caller);
  }
  if (!status.ok() || !seen) return status;
  for (const auto& [key, one] : seen->streams) {
    if (key.first != stream.datasource) continue;
    status = ObserveOne(tx, key, one, nullptr, options_);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Streams::Told>> Streams::Remove(const std::string& datasource,
                                                             const std::string& name,
                                                             const audit::Caller& caller) {
  absl::Status why;
  std::optional<SeenStreams> seen = LookAt(&why);
  std::optional<Told> left;
  absl::Status status = store_.Write([&](store::Transaction& tx) -> absl::Status {
    left.reset();
    auto all = StreamsOf(tx, datasource);
    if (!all.ok()) return all.status();
    std::vector<Stream> declared;
    for (const Stream& stream : *all) {
      if (stream.is_declared && (name.empty() || stream.name == name)) declared.push_back(stream);
    }
    if (declared.size() != 1) return UnknownStream(datasource, name);
    Stream stream = declared.front();
    // What Druid says of it counts from now on: that must be known.
    if (!stream.supervisor_id.empty() && !seen) return why;
    const std::string was = Describe(stream);
    const Seen* own = SeenOf(seen, datasource, stream.supervisor_id);
    if (own == nullptr) {
      absl::Status gone = DeleteStream(tx, datasource, stream.name);
      stream.tail.any = false;
      if (gone.ok()) gone = MirrorTail(tx, stream, options_);
      if (gone.ok() && record_) {
        gone = record_(tx, {"RemoveStream", datasource, stream.name, was, ""}, caller);
      }
      for (auto it = seen ? seen->streams.begin() : decltype(seen->streams.begin())();
           gone.ok() && seen && it != seen->streams.end(); ++it) {
        if (it->first.first == datasource) {
          gone = ObserveOne(tx, it->first, it->second, nullptr, options_);
        }
      }
      return gone;
    }
    stream.is_declared = false;
    stream.declared = Declared();
    stream.accept_unbounded = false;
    stream.registered_by = stream.reason = stream.request_id = "";
    auto tail = TailOf(tx, stream, own);
    if (!tail.ok()) return tail.status();
    stream.tail = *tail;
    left = Told{stream, NoticesOf(stream.tail, stream.declared, own, datasource)};
    return Store(tx, stream, seen, {"RemoveStream", datasource, stream.name, was, ""}, caller);
  });
  if (!status.ok()) return status;
  return left;
}

absl::StatusOr<Streams::Page> Streams::List(const std::string& datasource, int64_t size,
                                            const std::string& token) const {
  StreamKey after;
  if (!token.empty()) {
    const std::vector<std::string> parts = absl::StrSplit(token, kBetween);
    if (parts.size() != 2) return BadPageToken(token);
    after = {parts[0], parts[1]};
  }
  const int64_t most = size <= 0 ? kPage : std::min(size, kLongestPage);
  std::vector<Stream> streams;
  absl::Status status = store_.Read([&](store::Transaction& tx) -> absl::Status {
    auto found = StreamsAfter(tx, datasource, after, most + 1);
    if (!found.ok()) return found.status();
    streams = *std::move(found);
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  Page page;
  for (Stream& stream : streams) {
    if (static_cast<int64_t>(page.streams.size()) == most) {
      const Stream& last = page.streams.back().stream;
      page.next = absl::StrCat(last.datasource, std::string(1, kBetween), last.name);
      break;
    }
    Seen seen;
    const bool in_druid = stream.in_druid;
    if (in_druid) seen.supervisor.emplace();
    auto notices =
        NoticesOf(stream.tail, stream.declared, in_druid ? &seen : nullptr, stream.datasource);
    page.streams.push_back({std::move(stream), std::move(notices)});
  }
  return page;
}

}  // namespace interlock::guard
