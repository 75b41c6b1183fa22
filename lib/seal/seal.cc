#include "lib/seal/seal.h"

namespace interlock::seal {

absl::string_view NameOf(State state) {
  switch (state) {
    case State::kSealing:
      return "SEALING";
    case State::kActive:
      return "ACTIVE";
    case State::kUnsealed:
      return "UNSEALED";
    case State::kResealing:
      return "RESEALING";
  }
  return "";
}

absl::string_view NameOf(Integrity integrity) {
  switch (integrity) {
    case Integrity::kUnspecified:
      return "";
    case Integrity::kIntact:
      return "INTACT";
    case Integrity::kRewritten:
      return "REWRITTEN";
    case Integrity::kBroken:
      return "BROKEN";
    case Integrity::kUnknown:
      return "UNKNOWN";
  }
  return "";
}

State StateOf(absl::string_view name) {
  for (const State state : {State::kSealing, State::kUnsealed, State::kResealing}) {
    if (NameOf(state) == name) return state;
  }
  return State::kActive;
}

Integrity IntegrityOf(absl::string_view name) {
  for (const Integrity integrity :
       {Integrity::kIntact, Integrity::kRewritten, Integrity::kBroken, Integrity::kUnknown}) {
    if (NameOf(integrity) == name) return integrity;
  }
  return Integrity::kUnspecified;
}

State StateAt(const Seal& seal, Instant now) {
  const bool over = seal.unseal_until && *seal.unseal_until <= now;
  return seal.state == State::kUnsealed && over ? State::kResealing : seal.state;
}

bool Bars(const Seal& seal, Instant now) {
  // One whose figures never came is given up.
  if (seal.state == State::kSealing) return !seal.unseal_until || *seal.unseal_until > now;
  return StateAt(seal, now) != State::kUnsealed;
}

}  // namespace interlock::seal
