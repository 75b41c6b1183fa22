# shellcheck shell=bash
# Processes: DIR/ROLE/pid holds the number of each. A process counts as ours only while
# its working folder is DIR/ROLE, so a number that the kernel gave away again is harmless.

# A process that is asked to end closes its sessions, which takes seconds.
stop_grace_seconds=15

pid_of() { cat "$dir/$1/pid" 2>/dev/null; }

alive() {
  local pid
  pid=$(pid_of "$1") && [[ -n $pid && $(readlink "/proc/$pid/cwd" 2>/dev/null) == "$dir/$1" ]]
}

any_alive() {
  local role
  for role in $(roles); do ! alive "$role" || return 0; done
  return 1
}

require_free_ports() {
  local role
  for role in $(roles) derby $([[ $kafka == no ]] || echo kafka-controller); do
    port_is_free "$(port_of "$role")" ||
      die 3 "port $(port_of "$role") of the $role is taken by another process; choose another --port-base"
  done
}

port_is_free() { ! (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# The rest finds ZooKeeper (and Kafka) there, or would wait and complain.
launch_all() {
  local role
  launch zookeeper
  until serves zookeeper || ! alive zookeeper || [[ $interrupted == yes ]]; do sleep 0.2; done
  for role in $(roles); do [[ $role == zookeeper ]] || launch "$role"; done
}

launch() {
  local home=$dir/$1
  [[ $1 != kafka ]] || format_kafka
  # In its folder from its first moment, by which it is known as ours.
  (
    cd "$home"
    setsid "$java" @java.options >out 2>&1 </dev/null 9>&- &
    echo $! >pid
  )
}

format_kafka() {
  [[ ! -f $dir/data/kafka/meta.properties ]] || return 0
  (
    cd "$dir/kafka"
    "$java" -Xshare:auto -XX:TieredStopAtLevel=1 -cp "$(class_path "$cache/kafka-$kafka_version")" \
      kafka.tools.StorageTool format -t "$(random_uuid)" -c kafka.properties >format 2>&1 9>&-
  ) || die 1 "Kafka's storage could not be formatted; see $dir/kafka/format"
}

# Kafka's form of one: 16 bytes in 22 letters of URL-safe base64, not starting with -.
random_uuid() { echo "K$(head -c 16 /dev/urandom | base64 | tr '+/' 'AB' | cut -c2-22)"; }

# Whoever answers others ends first, ZooKeeper last: a session that ends in order is not
# waited for at the next start.
stop_all() {
  [[ ! -f $dir/classes.pid ]] || stop_recording
  stop_processes router broker "$worker" historical
  stop_processes coordinator
  stop_processes kafka
  stop_processes zookeeper
  stop_tasks
}

# stop_processes ROLE...: asks all of them, then makes those that do not listen.
stop_processes() {
  local role
  for role in "$@"; do ! alive "$role" || kill -TERM "$(pid_of "$role")" 2>/dev/null || true; done
  for role in "$@"; do
    ends_within "$stop_grace_seconds" "$role" || kill_process "$role"
    rm -f "$dir/$role/pid"
  done
}

ends_within() {
  local deadline=$((SECONDS + $1))
  while alive "$2"; do
    [[ $SECONDS -lt $deadline ]] || return 1
    sleep 0.2
  done
}

kill_process() {
  ! alive "$1" || kill -KILL "$(pid_of "$1")" 2>/dev/null || true
  ends_within 30 "$1" || die 1 "the $1 (process $(pid_of "$1")) does not end"
}

# The JVMs of tasks outlive a middle manager that was killed; they run in its folder.
stop_tasks() {
  local link
  for link in /proc/[0-9]*/cwd; do
    [[ $(readlink "$link" 2>/dev/null) == "$dir/middle-manager" ]] || continue
    link=${link%/cwd}
    kill -KILL "${link#/proc/}" 2>/dev/null || true
  done
}
