#include "lib/simulator/spec_errors.h"

#include "absl/strings/str_cat.h"

namespace interlock::simulator {

absl::Status CannotConstruct(absl::string_view java_class, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("Cannot construct instance of `", java_class, "`, problem: ", problem));
}

absl::Status UnknownType(absl::string_view type, absl::string_view java_class,
                         absl::string_view known, absl::string_view property) {
  std::string text =
      absl::StrCat("Please make sure to load all the necessary extensions and jars with type '",
                   type, "' on 'druid/coordinator' service. Could not resolve type id '", type,
                   "' as a subtype of `", java_class, "` known type ids = [", known, "]");
  if (!property.empty()) absl::StrAppend(&text, " (for POJO property '", property, "')");
  return absl::InvalidArgumentError(text);
}

absl::Status WrongType(absl::string_view java_type, absl::string_view found) {
  return absl::InvalidArgumentError(
      absl::StrCat("Cannot deserialize value of type `", java_type, "` from ", found));
}

absl::Status BadInterval(absl::string_view text, absl::string_view why, absl::string_view chain) {
  return absl::InvalidArgumentError(absl::StrCat("Invalid interval[", text, "]: [", why,
                                                 "] (through reference chain: ", chain, ")"));
}

absl::Status BadInstant(absl::string_view text, absl::string_view chain) {
  return absl::InvalidArgumentError(
      absl::StrCat("Invalid format: \"", text, "\" (through reference chain: ", chain, ")"));
}

absl::Status NotSimulated(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("The simulator does not know ", what, "; a real Druid may"));
}

}  // namespace interlock::simulator
