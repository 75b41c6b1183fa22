# Two stages: everything that builds, then only what runs.
FROM debian:bookworm-slim AS build
WORKDIR /src
COPY deploy/packages deploy/packages
RUN deploy/packages/install build
COPY CMakeLists.txt CMakePresets.json ./
COPY proto proto
COPY lib lib
COPY server server
COPY client client
ARG INTERLOCK_COMMIT=
RUN cmake --preset release -DINTERLOCK_COMMIT="$INTERLOCK_COMMIT" \
 && ninja -C build/release interlockd interlockctl \
 && strip build/release/bin/interlockd build/release/bin/interlockctl

FROM debian:bookworm-slim
COPY deploy/packages deploy/packages
RUN deploy/packages/install run \
 && rm -rf /deploy /var/lib/apt/lists/* \
 && useradd --uid 7430 --user-group --no-create-home --shell /usr/sbin/nologin interlock \
 && install -d -o interlock -g interlock -m 0750 /var/lib/interlock
COPY --from=build /src/build/release/bin/interlockd /src/build/release/bin/interlockctl /usr/local/bin/
COPY LICENSE /usr/share/doc/interlock/LICENSE
USER 7430:7430
VOLUME /var/lib/interlock
EXPOSE 7430 7431
ENTRYPOINT ["/usr/local/bin/interlockd"]
CMD ["--config", "/etc/interlock/interlockd.textproto"]
