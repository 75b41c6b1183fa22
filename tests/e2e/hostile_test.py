#!/usr/bin/env python3
"""A Druid that answers nonsense: the verdict is UNDETERMINED with the reason, never an
absence, and the server's memory stays where it was."""
import http.server
import os
import pathlib
import re
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import EndToEnd, hours  # noqa: E402

LARGEST = 50_000_000
MEGABYTES = 250
ONE = (b'{"dataSource":"DS","interval":"2026-07-16T10:00:00.000Z/2026-07-16T11:00:00.000Z",'
       b'"version":"v","size":1,"shardSpec":{"type":"numbered","partitionNum":0,"partitions":1}}')


def endless(first, again):
    yield first
    while True:
        yield again


REPLIES = {
    "truncated": lambda: iter([b"[" + ONE + b","]),
    "oversized": lambda: endless(b'[{"dataSource":"', b"x" * 65536),
    "deep": lambda: endless(b'[{"dimensions":', b"[" * 65536),
    "wrongly_typed": lambda: iter([b'[{"dataSource":5}]']),
    "no_list": lambda: iter([b'{"segments":[]}']),
    "numbers": lambda: iter([b"[1,2,3]"]),
    "duplicate_key": lambda: iter([b"[" + ONE.replace(b'"version":"v"', b'"version":"v","version":"w"')
                                   + b"]"]),
    "not_utf8": lambda: iter([b"[" + ONE.replace(b'"v"', b'"\xff\xfe"') + b"]"]),
    "endless": lambda: endless(b"[", b" " * 65536),
    "endless_segments": lambda: endless(b"[", (ONE + b",") * 300),
    "a_page": lambda: iter([b"<html>Sign in</html>"]),
    "nothing": lambda: iter([]),
    "another_datasource": lambda: iter([b"[" + ONE.replace(b"DS", b"other") + b"]"]),
}

# What each is told as.
SAYS = {
    "truncated": "no whole reply",
    "oversized": "larger than any segment",
    "deep": "nested deeper",
    "wrongly_typed": "dataSource",
    "no_list": "found {",
    "numbers": "element 0",
    "duplicate_key": "version stands twice",
    "not_utf8": "no UTF-8",
    "endless": f"larger than {LARGEST} bytes",
    "endless_segments": f"larger than {LARGEST} bytes",
    "a_page": "found <",
    "nothing": "ends before",
    "another_datasource": "a segment of another datasource",
}


class Hostile(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for piece in REPLIES[self.server.reply]():
                piece = piece.replace(b"DS", self.server.datasource.encode())
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if self.server.reply != "truncated":
                self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass  # it was cut off, as it should
        self.close_connection = True

    def do_GET(self):
        body = b"[]"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, datasource):
        super().__init__(("127.0.0.1", 0), Hostile)
        self.datasource, self.reply = datasource, ""
        self.address = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


class HostileReplies(EndToEnd):
    def test_each_gives_undetermined_with_its_reason_in_bounded_memory(self):
        druid = Server(self.datasource)
        self._running.append(druid)
        server = self.run_interlockd(
            druid, access="OBSERVE",
            druid_settings=f"max_reply_bytes: {LARGEST} call_timeout {{ seconds: 20 }}")
        for name in REPLIES:
            druid.reply = name
            code, reply, error = server.ctl("verify", self.datasource, hours(10, 11))
            self.assertEqual((name, code, reply.get("verdict")), (name, 6, "UNDETERMINED"), error)
            verdict = reply["partitions"][0]["verdicts"][0]
            self.assertEqual(verdict["reason"], "NO_ANSWER", name)
            self.assertIn(SAYS[name], verdict["message"], name)
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024
        # A sanitizer keeps what was freed, to know it again.
        if not os.environ.get("INTERLOCK_SANITIZED"):
            self.assertLess(peak, MEGABYTES)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
