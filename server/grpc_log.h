// gRPC's own log lines, written as this server's: one JSON object a line like all others, so
// that what reads the log meets no line of another shape.
#pragma once

namespace interlock::server {

// From now on and for the whole process. Call before anything of gRPC's runs.
void TakeOverGrpcLog();

}  // namespace interlock::server
