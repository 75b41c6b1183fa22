#include "server/config_rules.h"

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lib/backfill/json_document.h"
#include "re2/re2.h"
#include "server/config_defaults.h"

namespace interlock::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

// Walks along with the messages so that a rule names its field once, and the line and
// the dotted path follow from it.
class Place {
 public:
  // `line` is where the message itself begins, 0 for the file.
  Place(const Message& message, const TextFormat::ParseInfoTree* lines, std::string path, int line,
        std::vector<ConfigFault>& faults)
      : message_(message), lines_(lines), path_(std::move(path)), line_(line), faults_(faults) {}

  Place Into(const std::string& field) const {
    const auto* descriptor = Find(field);
    return {message_.GetReflection()->GetMessage(message_, descriptor),
            lines_ == nullptr ? nullptr : lines_->GetTreeForNested(descriptor, -1), Path(field),
            Near(field), faults_};
  }
  bool Has(const std::string& field) const {
    const auto* descriptor = Find(field);
    const auto* reflection = message_.GetReflection();
    if (descriptor->is_repeated()) return reflection->FieldSize(message_, descriptor) > 0;
    if (descriptor->has_presence()) return reflection->HasField(message_, descriptor);
    return Line(field) > 0;
  }
  void Fault(const std::string& field, const std::string& text) const {
    faults_.push_back({Near(field), absl::StrCat(Path(field), ": ", text)});
  }
  // A field of the surface that this version does not honour.
  void NotBuilt(const std::string& field) const {
    if (Has(field)) Fault(field, "is not built in this version; remove it");
  }

 private:
  const FieldDescriptor* Find(const std::string& field) const {
    return message_.GetDescriptor()->FindFieldByName(field);
  }
  std::string Path(const std::string& field) const {
    return path_.empty() ? field : absl::StrCat(path_, ".", field);
  }
  int Line(const std::string& field) const {
    if (lines_ == nullptr) return 0;
    const auto* descriptor = Find(field);
    return lines_->GetLocation(descriptor, descriptor->is_repeated() ? 0 : -1).line + 1;
  }

  // A field that is missing is missing where its message begins.
  int Near(const std::string& field) const {
    const int line = Line(field);
    return line > 0 ? line : line_;
  }

  const Message& message_;
  const TextFormat::ParseInfoTree* lines_;
  std::string path_;
  int line_;
  std::vector<ConfigFault>& faults_;
};

constexpr int kHighestPort = 65535;

// gRPC takes a higher port, and listens on what is left of it in sixteen bits.
bool HasPort(const std::string& address) {
  static const RE2 kAddress(R"((?:\[[0-9a-fA-F:.]+\]|[^:\[\]]+):([0-9]{1,5}))");
  if (absl::StartsWith(address, "unix:")) return true;
  int port = 0;
  return RE2::FullMatch(address, kAddress, &port) && port <= kHighestPort;
}

bool IsUrl(const std::string& url) {
  static const RE2 kUrl(R"(https?://[^/@\s?#]+(/[^\s?#]*)?)");
  return RE2::FullMatch(url, kUrl);
}

// An address as a fault may show it: who is named in it, and what follows a '?', can be a secret.
std::string WithoutSecrets(std::string url) {
  if (const size_t query = url.find_first_of("?#"); query != std::string::npos) {
    url = url.substr(0, query + 1) + "…";
  }
  const size_t at = url.rfind('@');
  if (at == std::string::npos) return url;
  const size_t host = url.find("://");
  return absl::StrCat(host == std::string::npos ? "" : url.substr(0, host + 3), "…",
                      url.substr(at));
}

// Whether every caller over gRPC shows who it is.
bool ProvesCallers(const config::v1::Tls& tls) {
  return !tls.client_ca_file().empty() && tls.require_client_certificate();
}

void CheckAddress(const Place& listen, const std::string& field, const std::string& address,
                  bool may_be_open, const std::string& otherwise) {
  if (address.empty()) return;
  if (!HasPort(address)) {
    listen.Fault(field, absl::StrCat("'", address,
                                     "' is not HOST:PORT, like 127.0.0.1:7430 (at most 65535)"));
  } else if (!IsLoopback(address) && !may_be_open) {
    listen.Fault(field, absl::StrCat("'", address, "' is beyond loopback: ", otherwise));
  }
}

void CheckListen(const config::v1::ServerConfig& config, const Place& root) {
  const Place listen = root.Into("listen");
  const auto& set = config.listen();
  CheckAddress(listen, "address", set.address(),
               set.allow_insecure_beyond_loopback() || ProvesCallers(config.tls()),
               "anybody who reaches it could drop data. Set tls with client_ca_file and "
               "require_client_certificate, or listen.allow_insecure_beyond_loopback: true");
  CheckAddress(listen, "admin_address", set.admin_address(), set.allow_admin_beyond_loopback(),
               "anybody who reaches it reads who holds what. Say who may by a firewall or a "
               "NetworkPolicy, and set listen.allow_admin_beyond_loopback: true");
}

void CheckTls(const config::v1::ServerConfig& config, const Place& root) {
  const Place tls = root.Into("tls");
  const auto& set = config.tls();
  if (set.certificate_file().empty() != set.key_file().empty()) {
    tls.Fault(set.key_file().empty() ? "key_file" : "certificate_file",
              "certificate_file and key_file go together");
  }
  if (!set.client_ca_file().empty() && set.certificate_file().empty()) {
    tls.Fault("client_ca_file", "client certificates need certificate_file and key_file too");
  }
  if (set.require_client_certificate() && set.client_ca_file().empty()) {
    tls.Fault("require_client_certificate", "set client_ca_file: whose certificates are taken");
  }
}

void CheckStore(const config::v1::ServerConfig& config, const Place& root) {
  const Place store = root.Into("store");
  if (config.store().has_postgresql()) {
    const auto& postgresql = config.store().postgresql();
    const Place place = store.Into("postgresql");
    if (postgresql.dsn_file().empty()) {
      place.Fault("dsn_file", "is missing: a file with host=… dbname=… user=…");
    }
    if (postgresql.pool_size() != 0 && postgresql.pool_size() < 3) {
      place.Fault("pool_size", "is below 3: one connection writes, one listens, one reads");
    }
    if (config.druid().simulated()) {
      root.Fault("druid",
                 "simulated goes with sqlite, where one server has the Druid to itself;"
                 " run interlock-simulator and name its address");
    }
  } else if (config.store().sqlite().path().empty()) {
    root.Fault("store",
               "is missing; set store { sqlite { path: \"/var/lib/interlock/interlock.db\" } }");
  }
}

void CheckUrls(const Place& druid, const std::string& field,
               const google::protobuf::RepeatedPtrField<std::string>& urls) {
  for (const auto& url : urls) {
    if (!IsUrl(url)) {
      druid.Fault(field, absl::StrCat("'", WithoutSecrets(url),
                                      "' is not a base URL, like https://druid.example:8081 "
                                      "(credentials go into basic_auth)"));
    }
  }
}

void CheckDruid(const config::v1::ServerConfig& config, const Place& root) {
  const Place druid = root.Into("druid");
  const auto& set = config.druid();
  const bool services = set.coordinator_urls_size() > 0 || set.broker_urls_size() > 0;
  if (!set.simulated() && set.router_urls_size() == 0 && !services) {
    root.Fault("druid", "has no address; set router_urls, or coordinator_urls and broker_urls");
  } else if (!set.simulated() && set.router_urls_size() == 0) {
    if (set.coordinator_urls_size() == 0) druid.Fault("coordinator_urls", "is missing");
    if (set.broker_urls_size() == 0) druid.Fault("broker_urls", "is missing");
  }
  if (set.simulated() && (set.router_urls_size() > 0 || services)) {
    druid.Fault("simulated", "goes without addresses: remove one or the other");
  }
  CheckUrls(druid, "router_urls", set.router_urls());
  CheckUrls(druid, "coordinator_urls", set.coordinator_urls());
  CheckUrls(druid, "overlord_urls", set.overlord_urls());
  CheckUrls(druid, "broker_urls", set.broker_urls());
  if (set.has_basic_auth() &&
      (set.basic_auth().user().empty() || set.basic_auth().password_file().empty())) {
    druid.Fault("basic_auth", "wants user and password_file");
  }
  if (absl::StrContains(set.basic_auth().user(), ':')) {
    druid.Fault("basic_auth", "user has a colon, which Basic authentication can't carry");
  }
  for (const std::string& pattern : set.redirect_patterns()) {
    static const RE2 kOrigin(R"(https?://[^/@\s?#]+)");
    if (RE2::FullMatch(pattern, kOrigin)) continue;
    druid.Fault("redirect_patterns", absl::StrCat("'", WithoutSecrets(pattern),
                                                  "' is no scheme://host:port, like "
                                                  "http://druid-*.internal:8081"));
  }
  if (set.router_urls_size() > 0 && (services || set.overlord_urls_size() > 0)) {
    druid.Fault("router_urls",
                "stands in place of coordinator_urls, overlord_urls and broker_urls: remove one "
                "or the other");
  }
  druid.NotBuilt("max_connections");
}

// Where 0 would mean for ever, or again and again without a pause.
void CheckAboveZero(const Message& message, const Place& place,
                    std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    const auto* descriptor = message.GetDescriptor()->FindFieldByName(field);
    if (!message.GetReflection()->HasField(message, descriptor)) continue;
    const Message& value = message.GetReflection()->GetMessage(message, descriptor);
    const auto* duration = dynamic_cast<const google::protobuf::Duration*>(&value);
    if (duration != nullptr && ToAbsl(*duration) == absl::ZeroDuration()) {
      place.Fault(field, "is 0; leave it out for its default");
    }
  }
}

bool IsBelowZero(const Message& message, const FieldDescriptor* field) {
  const auto* reflection = message.GetReflection();
  return (field->cpp_type() == FieldDescriptor::CPPTYPE_INT32 &&
          reflection->GetInt32(message, field) < 0) ||
         (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64 &&
          reflection->GetInt64(message, field) < 0);
}

// No number or duration may be below 0, wherever it stands, but for those that say so.
void CheckNumbers(const Message& message, const Place& place) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const auto* field : fields) {
    if (field->is_repeated()) continue;
    if (IsBelowZero(message, field)) place.Fault(field->name(), "is below 0");
    if (field->type() != FieldDescriptor::TYPE_MESSAGE) continue;
    const Message& child = reflection->GetMessage(message, field);
    if (const auto* duration = dynamic_cast<const google::protobuf::Duration*>(&child)) {
      if (field->name() == "sweep_interval") continue;  // negative: no sweeper
      if (field->name() == "start_timeout") continue;   // negative: no waiting
      if (ToAbsl(*duration) < absl::ZeroDuration()) place.Fault(field->name(), "is below 0");
    } else {
      CheckNumbers(child, place.Into(field->name()));
    }
  }
}

void CheckLimits(const config::v1::ServerConfig& config, const Place& root) {
  config::v1::ServerConfig filled = config;
  FillDefaults(filled);
  const auto& set = filled.limits();
  const Place limits = root.Into("limits");
  const absl::Duration least = ToAbsl(set.min_ttl()), usual = ToAbsl(set.default_ttl()),
                       most = ToAbsl(set.max_ttl());
  if (least > usual || usual > most) {
    const char* field = config.limits().has_default_ttl() ? "default_ttl" : "min_ttl";
    limits.Fault(field, absl::StrCat("min_ttl, default_ttl, max_ttl must rise, and are ",
                                     absl::FormatDuration(least), ", ", absl::FormatDuration(usual),
                                     ", ", absl::FormatDuration(most)));
  }
  if (set.max_spec_bytes() > static_cast<int64_t>(backfill::kMaxSpecBytes)) {
    limits.Fault("max_spec_bytes", absl::StrCat("is above ", backfill::kMaxSpecBytes,
                                                ", the most that is read of a spec"));
  }
}

// A call that changes Druid goes out only while the lease outlasts it: with a shorter
// lease nothing would ever be submitted.
void CheckBackfills(const config::v1::ServerConfig& config, const Place& root) {
  config::v1::ServerConfig filled = config;
  FillDefaults(filled);
  const absl::Duration lease = ToAbsl(filled.backfills().lease_ttl());
  const absl::Duration call = ToAbsl(filled.druid().call_timeout());
  if (ToAbsl(filled.backfills().max_pause()) <= call) {
    root.Into("backfills")
        .Fault("max_pause",
               absl::StrCat("is not longer than druid.call_timeout, ", absl::FormatDuration(call),
                            ": in such a pause nothing would be submitted"));
  }
  if (lease > 2 * call) return;
  root.Into("backfills")
      .Fault("lease_ttl", absl::StrCat("is ", absl::FormatDuration(lease),
                                       "; it must be more than twice druid.call_timeout, ",
                                       absl::FormatDuration(call)));
}

void CheckProbe(const config::v1::StorageProbe& probe, const Place& drops) {
  if (!probe.has_s3()) {
    if (probe.local_path().empty()) drops.Fault("storage_probes", "wants local_path or s3 { … }");
    return;
  }
  const auto& s3 = probe.s3();
  if (s3.bucket().empty() || absl::StrContains(s3.bucket(), '/')) {
    drops.Fault("storage_probes", absl::StrCat("s3.bucket '", s3.bucket(),
                                               "' is no bucket's name, like druid-segments"));
  }
  if (!s3.endpoint().empty() && (!IsUrl(s3.endpoint()) || absl::EndsWith(s3.endpoint(), "/"))) {
    drops.Fault("storage_probes",
                absl::StrCat("s3.endpoint '", WithoutSecrets(s3.endpoint()),
                             "' is no address without a path, like https://s3.example:9000"));
  }
  if (s3.credentials_file().empty()) {
    drops.Fault("storage_probes",
                "s3.credentials_file is missing: a file with access_key_id:secret_access_key");
  }
}

void CheckDrops(const config::v1::ServerConfig& config, const Place& root) {
  const Place drops = root.Into("drops");
  for (const auto& own : config.drops().datasource_floors()) {
    if (own.datasource_pattern().empty()) {
      drops.Fault("datasource_floors", "datasource_pattern is missing, like page_views or raw_*");
    }
    if (ToAbsl(own.floor()) < absl::ZeroDuration()) {
      drops.Fault("datasource_floors",
                  absl::StrCat("the floor of '", own.datasource_pattern(), "' is below 0"));
    }
  }
  for (const auto& probe : config.drops().storage_probes()) CheckProbe(probe, drops);
  config::v1::ServerConfig filled = config;
  FillDefaults(filled);
  const auto& set = filled.drops();
  const std::pair<const char*, bool> orders[] = {
      {"default_window", ToAbsl(set.default_window()) >= ToAbsl(set.min_window())},
      {"max_window", ToAbsl(set.max_window()) >= ToAbsl(set.default_window())}};
  for (const auto& [field, in_order] : orders) {
    if (in_order) continue;
    drops.Fault(field, absl::StrCat("min_window, default_window, max_window must rise, and are ",
                                    absl::FormatDuration(ToAbsl(set.min_window())), ", ",
                                    absl::FormatDuration(ToAbsl(set.default_window())), ", ",
                                    absl::FormatDuration(ToAbsl(set.max_window()))));
  }
}

void CheckVerification(const config::v1::ServerConfig& config, const Place& root) {
  const auto& set = config.verification();
  const Place verification = root.Into("verification");
  if (set.sweep_requests_per_second() < 0) {
    verification.Fault("sweep_requests_per_second",
                       "is below 0; to have no sweeper set sweep_interval to a negative one");
  }
  const absl::Duration every = ToAbsl(set.sweep_interval());
  if (set.has_sweep_interval() && every >= absl::ZeroDuration() && every < absl::Seconds(1)) {
    verification.Fault("sweep_interval", "is below a second");
  }
}

void CheckNotBuilt(const Place& root) { root.NotBuilt("access"); }

}  // namespace

bool IsLoopback(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const std::string host = address.substr(0, address.rfind(':'));
  // A name may begin with 127 too: only digits and dots are an address.
  const bool numeric = host.find_first_not_of("0123456789.") == std::string::npos;
  return (numeric && absl::StartsWith(host, "127.")) || host == "localhost" || host == "[::1]";
}

void ApplyRules(const config::v1::ServerConfig& config, const TextFormat::ParseInfoTree& lines,
                std::vector<ConfigFault>& faults) {
  const Place root(config, &lines, "", 0, faults);
  CheckListen(config, root);
  CheckTls(config, root);
  CheckStore(config, root);
  CheckDruid(config, root);
  CheckLimits(config, root);
  CheckBackfills(config, root);
  CheckDrops(config, root);
  CheckVerification(config, root);
  CheckNumbers(config, root);
  CheckAboveZero(config.druid(), root.Into("druid"), {"call_timeout", "connect_timeout"});
  CheckAboveZero(config.backfills(), root.Into("backfills"), {"poll_interval"});
  CheckAboveZero(config.streams(), root.Into("streams"), {"poll_interval"});
  CheckNotBuilt(root);
}

}  // namespace interlock::server
