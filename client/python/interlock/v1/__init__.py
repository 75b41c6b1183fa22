"""Stubs of the API `interlock.v1`, made from its .proto files when the package is built.

`interlock.Client` needs none of this to be known; it is here for programs that want to
speak gRPC themselves.
"""
