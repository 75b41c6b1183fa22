#include "client/cli/verb.h"
#include "client/cli/verb_tables.h"

namespace interlock::cli {

const std::vector<Verb>& AllVerbs() {
  static const auto* const kVerbs = [] {
    auto* all = new std::vector<Verb>();
    for (auto table : {CoordinatorVerbs, ReservationVerbs, BackfillVerbs, DropVerbs, SealVerbs,
                       StreamVerbs, ServerVerbs}) {
      for (Verb& verb : table()) all->push_back(std::move(verb));
    }
    return all;
  }();
  return *kVerbs;
}

const std::vector<Flag>& GlobalFlags() {
  const auto with = [](Flag flag, const char* variable) {
    flag.variable = variable;
    return flag;
  };
  static const auto* const kFlags = new std::vector<Flag>{
      with({"address", "HOST:PORT", "where interlockd is; 127.0.0.1:7430 unless told"},
           "INTERLOCK_ADDRESS"),
      with({"token", "TOKEN", "who you are, to a server that gives tokens"}, "INTERLOCK_TOKEN"),
      with({"caller", "NAME", "who you are, to a server on this machine; $USER unless told"},
           "INTERLOCK_CALLER"),
      with({"ca", "FILE", "whom to trust, PEM; 'system' for the machine's own authorities"},
           "INTERLOCK_CA"),
      with({"cert", "FILE", "who you are, by certificate, PEM"}, "INTERLOCK_CERT"),
      with({"key", "FILE", "the certificate's key, PEM"}, "INTERLOCK_KEY"),
      {"output", "FORM", "table (on a terminal, unless told) or json; also -o"},
      {"timeout", "TIME", "longest time of a call, 1m unless told; given, it bounds --wait too"},
      {"help", nullptr, "what a verb does and takes; also -h"},
      {"version", nullptr, "the version of interlockctl"},
  };
  return *kFlags;
}

}  // namespace interlock::cli
