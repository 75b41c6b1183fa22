"""Reserves an hour, recomputes it, proves it: reserve_submit_verify.py SPEC.json INTERVAL ROWS"""
import pathlib
import sys

import interlock

spec, hour, rows = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2], int(sys.argv[3])
with interlock.Client(caller="example") as client:
    with interlock.Reservation(client, "page_views", hour, purpose="late events") as lease:
        submitted = client.submit(spec=spec, intervals=hour, reservation=lease, expect_rows=rows)
        backfill = client.wait_for_backfill(submitted.backfill.backfill_id)
        proof = client.verify("page_views", hour, expect_rows=rows, count_metric="events",
                              reservation=lease)
print(backfill.state, proof.verdict)
sys.exit(0 if backfill.state == "DONE" and proof.good else 1)
