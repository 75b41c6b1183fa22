// How a manifest is killed: in pieces, one partition each, each bounded so that Druid's
// kill task can reach nothing that is not on the manifest.
//
// A kill task takes every unused segment that lies inside its interval (cases 48, 61),
// so each piece is bounded three ways: by the interval of its own segments, by their
// versions, and by the moment of the latest of their own marks (druid-measured 3:
// maxUsedStatusLastUpdatedTime is inclusive). What could still be reached and is not on
// the manifest is found by WouldKill, and stops the drop.
//
// Threads: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/drop/manifest.h"
#include "lib/druid/segment.h"
#include "lib/time/instant.h"
#include "lib/time/interval.h"

namespace interlock::drop {

struct KillPiece {
  Interval interval;
  std::vector<std::string> versions;  // sorted, each once
  Instant not_after;                  // of the change to unused, inclusive
  std::vector<std::string> ids;
};

// The pieces of what is marked and whose time of marking is known, oldest first: one for
// each distinct interval.
std::vector<KillPiece> KillPieces(const Manifest& rows);

// Whether Druid's kill of that piece would take `segment` along. One whose time of
// marking is not told counts as reached.
bool WouldKill(const KillPiece& piece, const druid::UnusedSegment& segment);

// Neighbouring pieces (of abutting partitions) joined into tasks of up to `most` segments,
// where the joined bounds still reach nothing of `unlisted`: a year of hours is a few
// tasks, not thousands.
std::vector<KillPiece> Joined(const std::vector<KillPiece>& pieces,
                              const std::vector<druid::UnusedSegment>& unlisted, int64_t most);

struct KillTask {
  std::string id;
  std::string datasource;
  std::string drop_id;
  std::string nonce;  // in its context: "already exists" is ours only if this comes back
  int64_t attempt = 1;
};

// The task's JSON, as it is posted.
std::string KillTaskJson(const KillTask& task, const KillPiece& piece);

// A task that does nothing, under a kill's id: a post of the kill that is still on its way
// finds the id taken. Its nonce is another (OccupantNonce), so that neither is taken for the
// other.
std::string OccupantJson(const KillTask& task);
std::string OccupantNonce(const std::string& nonce);

// Why a kill failed, as a stable reason for metrics and alerts. What Druid's words say:
// PERMISSION, LOCK_CONFLICT, FILE_MISSING, FILES_LEFT (it could not delete, and does not say
// why), SHUT_DOWN (by somebody else), WORKER_LOST, OTHER.
std::string KillFailure(const std::string& error);
// What we know without its words.
inline constexpr char kKillOther[] = "OTHER";
inline constexpr char kKillShutDown[] = "SHUT_DOWN";
inline constexpr char kKillWaitedTooLong[] = "WAITED_TOO_LONG";  // shut down by us, so that
inline constexpr char kKillRanTooLong[] = "RAN_TOO_LONG";        // …
inline constexpr char kKillCancelled[] = "CANCELLED";            // by us, at a person's word
inline constexpr char kKillFilesLeft[] = "FILES_LEFT";           // rows gone, files seen there
inline constexpr char kKillTaskRefused[] = "REFUSED";            // Druid never took it
inline constexpr char kKillIdTaken[] = "TASK_ID_TAKEN";          // it is another's task
// Whether the same kill again, later, can end better.
bool WorthAnotherKill(const std::string& failure);

}  // namespace interlock::drop
