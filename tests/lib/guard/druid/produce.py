#!/usr/bin/env python3
"""produce.py SERVERS TOPIC < lines: a message a line, all acknowledged."""
import sys

from confluent_kafka import Producer


def main():
    servers, topic = sys.argv[1:]
    failed = []
    producer = Producer({"bootstrap.servers": servers, "acks": "all"})
    for line in sys.stdin.read().splitlines():
        producer.produce(topic, line, on_delivery=lambda error, _: failed.append(error) if error else None)
    left = producer.flush(60)
    if left or failed:
        sys.exit(f"{left} messages were not sent; {failed[:1]}")


main()
