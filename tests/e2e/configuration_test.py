#!/usr/bin/env python3
"""interlockd's flags, its exit codes, and what it takes over while it runs."""
import json
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import BIN, EndToEnd, hours, wait_for  # noqa: E402

BAD_USAGE = 2


def interlockd(*words):
    result = subprocess.run([str(BIN / "interlockd"), *map(str, words)], capture_output=True,
                            text=True, timeout=60, check=False)
    return result.returncode, result.stdout, result.stderr


class Configuration(EndToEnd):
    def test_flags_that_are_none_are_bad_usage(self):
        for words, told in ((("--bogus",), "--bogus"), (("--check=maybe",), "--check"),
                            (("--config",), "--config"), (("serve",), "serve"),
                            ((), "--config")):
            code, _, error = interlockd(*words)
            self.assertEqual((code, error.count("\n")), (BAD_USAGE, 1), f"{words}: {error}")
            self.assertIn(told, error)
        code, out, error = interlockd("--help")
        self.assertEqual((code, error), (0, ""))
        self.assertIn("--config", out)
        self.assertEqual(interlockd("--version")[0], 0)

    def test_a_store_in_a_folder_that_is_not_there_names_the_folder(self):
        config = self.folder / "c.textproto"
        config.write_text(f'store {{ sqlite {{ path: "{self.folder}/none/interlock.db" }} }}\n'
                          'druid { router_urls: "http://127.0.0.1:1" }\n')
        for flags in ((), ("--migrate",)):
            code, _, error = interlockd("--config", config, *flags)
            self.assertEqual(code, BAD_USAGE, error)
            self.assertIn("store.sqlite.path", error)
            self.assertIn(f"there is no folder {self.folder}/none", error)
        self.assertFalse((self.folder / "none").exists())

    def test_a_file_that_can_not_be_read_ends_the_start_and_names_its_field(self):
        config = self.folder / "c.textproto"
        store = f'store {{ sqlite {{ path: "{self.folder}/interlock.db" }} }}\n'
        listen = 'listen { address: "127.0.0.1:0" admin_address: "127.0.0.1:0" }\n'
        druid = 'druid {{ router_urls: "http://127.0.0.1:1" {} }}\n'
        none = self.folder / "none.pem"
        empty = self.folder / "empty.pem"
        empty.write_text("")
        tls = 'tls {{ certificate_file: "{0}" key_file: "{0}" }}\n'
        for text, field in ((druid.format("") + tls.format(none), "tls.certificate_file"),
                            (druid.format("") + tls.format(empty), "tls.certificate_file"),
                            (druid.format("") + tls.format(config), "is no PEM"),
                            (druid.format(f'ca_file: "{none}"'), "druid.ca_file"),
                            (druid.format(f'basic_auth {{ user: "a" password_file: "{none}" }}'),
                             "druid.basic_auth.password_file")):
            config.write_text(store + listen + text)
            code, _, error = interlockd("--config", config)
            self.assertEqual(code, BAD_USAGE, error)
            self.assertIn(field, error)

    def test_limits_of_leases_are_taken_over_while_it_runs(self):
        server = self.run_interlockd(self.run_simulator())

        def reserve(hour):
            return server.ctl("reserve", self.datasource, hours(hour, hour + 1), "--ttl", "2h")
        self.assertEqual(reserve(1)[0], 0)
        config = server.config.read_text()
        server.config.write_text(config + "limits { max_ttl { seconds: 60 } max_spec_bytes: 9999 }")
        server.process.send_signal(signal.SIGHUP)
        told = wait_for("the configuration to be read again", lambda: [
            json.loads(line) for line in server.log().splitlines()
            if "configuration read again" in line])[0]
        self.assertEqual(told["at_a_restart"], "limits.max_spec_bytes")
        code, _, error = reserve(2)
        self.assertEqual(code, BAD_USAGE, error)
        self.assertIn("at most 1m, which is limits.max_ttl of this server", error)
        self.assertEqual(server.ctl("status")[1]["limits"]["max_ttl"], "1m")
        server.config.write_text("limits {")
        server.process.send_signal(signal.SIGHUP)
        wait_for("it to be refused", lambda: "configuration not taken over" in server.log())
        self.assertIn("limits.max_ttl", reserve(2)[2], "what was in force stays so")

    def test_a_length_below_zero_is_told_by_who_reads_it(self):
        code, _, error = self.run_interlockd(self.run_simulator()).ctl(
            "reserve", self.datasource, hours(1, 2), "--ttl", "-5m")
        self.assertEqual(code, BAD_USAGE, error)
        self.assertIn("'-5m' is below zero", error)

    def test_a_name_that_is_too_long_names_its_field(self):
        server = self.run_interlockd(self.run_simulator())
        long = "x" * 5000
        for words in (("reserve", long, hours(1, 2)), ("drop", long, hours(1, 2), "--reason", "r"),
                      ("explain", long, hours(1, 2)), ("verify", long, hours(1, 2)),
                      ("seal", long, hours(1, 2), "--reason", "r"), ("drops", "list", long),
                      ("reservations", "list", long), ("backfills", "list", long),
                      ("findings", long), ("check-append", long, "2026-07-16T01:00Z"),
                      ("streams", "register", long, "--tail", "P1D")):
            code, _, error = server.ctl(*words)
            self.assertEqual(code, BAD_USAGE, f"{words[0]}: {code} {error[:300]}")
            self.assertIn("datasource: it has 5000 bytes; at most 255", error, words[0])
        code, _, error = server.ctl("reserve", "d", hours(1, 2), "--reason", "x" * 1025)
        self.assertEqual(code, BAD_USAGE, error[:300])
        self.assertIn("/reason", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
