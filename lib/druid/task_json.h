// Tasks as the overlord's replies tell of them. Functions without state.
#pragma once

#include <string>

#include "lib/druid/task.h"
#include "rapidjson/document.h"

namespace interlock::druid {

// From "statusCode" and "status", which say the same where both are there: neither, or
// two that disagree, or a word that we don't know, is kUnknown.
TaskState ReadTaskState(const rapidjson::Value& task);

// An element of /tasks, the "status" of /task/ID/status, or a value of /taskStatus
// (which has less in it).
TaskStatus ReadTaskStatus(const rapidjson::Value& task);

// The reply of /task/ID/reports.
TaskReport ReadTaskReport(const rapidjson::Value& reports);

// The "payload" of the reply of /task/ID.
TaskPayload ReadTaskPayload(const std::string& id, const rapidjson::Value& payload);

}  // namespace interlock::druid
