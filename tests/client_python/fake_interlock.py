"""A gRPC server in this process that answers as a test tells it to.

Errors travel as the real server sends them: a status with google.rpc details in a trailer.
"""
import concurrent.futures
import threading

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

from interlock import methods


class Error(Exception):
    """Raised by an answer, to be sent as the server does."""

    def __init__(self, code, reason="", message="no", metadata=None, faults=(), blockers=(),
                 retry_seconds=None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = status_pb2.Status(code=code.value[0], message=message)
        if reason:
            self._add(error_details_pb2.ErrorInfo(reason=reason, domain="interlock.druid",
                                                  metadata=metadata or {}))
        if faults:
            self._add(error_details_pb2.BadRequest(field_violations=[
                {"field": field, "description": text} for field, text in faults]))
        if blockers:
            self._add(error_details_pb2.PreconditionFailure(violations=[
                {"type": kind, "subject": subject, "description": text}
                for kind, subject, text in blockers]))
        if retry_seconds is not None:
            self._add(error_details_pb2.RetryInfo(
                retry_delay=duration_pb2.Duration(seconds=retry_seconds)))

    def _add(self, detail):
        packed = any_pb2.Any()
        packed.Pack(detail)
        self.details.details.append(packed)

    def send(self, context):
        context.set_trailing_metadata((("grpc-status-details-bin",
                                        self.details.SerializeToString()),))
        context.abort(self.code, self.message)


class FakeInterlock(grpc.GenericRpcHandler):
    """`answers["Reservations.GetReservation"] = lambda request: reply`; a list for a stream.

    A list of answers is used up one by one, the last one again and again.
    """

    def __init__(self):
        self.answers = {}
        self.calls = []  # (method, request, metadata)
        self._lock = threading.Lock()
        self._server = None
        self.port = 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """On a free port; started again, on the one it had."""
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=(self,),
                                   options=[("grpc.max_receive_message_length", 64 << 20),
                                            ("grpc.max_send_message_length", 64 << 20)])
        self.port = self._server.add_insecure_port(f"127.0.0.1:{self.port}")
        self._server.start()

    def stop(self):
        self._server.stop(0).wait()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def requests(self, method):
        return [request for name, request, _ in self.calls if name == method]

    def service(self, handler_call_details):
        name = handler_call_details.method.replace("/interlock.v1.", "").replace("/", ".")
        found = methods.find(name)
        make = (grpc.unary_stream_rpc_method_handler if found.streams
                else grpc.unary_unary_rpc_method_handler)
        answer = self._stream if found.streams else self._one
        return make(lambda request, context: answer(name, request, context),
                    request_deserializer=found.request.FromString,
                    response_serializer=found.reply.SerializeToString)

    def _next(self, name, request, context):
        with self._lock:
            self.calls.append((name, request, dict(context.invocation_metadata())))
            answer = self.answers.get(name)
            if isinstance(answer, list):
                answer = answer.pop(0) if len(answer) > 1 else answer[0]
        return answer

    def _one(self, name, request, context):
        try:
            answer = self._next(name, request, context)
            if isinstance(answer, Error):
                raise answer
            return answer(request) if callable(answer) else answer
        except Error as error:
            error.send(context)

    def _stream(self, name, request, context):
        for answer in self._next(name, request, context):
            if isinstance(answer, Error):
                answer.send(context)
            yield answer
