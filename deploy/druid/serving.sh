# shellcheck shell=bash
# Whether a role does its work, not only whether its port is open; and archives of classes.

get() { curl -sf -m 5 "$@" 2>/dev/null; }

serves() {
  alive "$1" || return 1
  case $1 in
    zookeeper | kafka) ! port_is_free "$(port_of "$1")" ;;
    coordinator) leads coordinator && leads indexer ;;
    indexer | middle-manager) healthy "$1" && takes_tasks "$1" ;;
    historical) healthy historical && is_announced historical ;;
    broker) answers_sql broker ;;
    router) answers_sql router && get "$(url_of router)/druid/coordinator/v1/leader" >/dev/null ;;
  esac
}

all_serve() {
  local role
  for role in $(roles); do serves "$role" || return 1; done
}

healthy() { get "$(url_of "$1")/status/health" >/dev/null; }

# leads API: the coordinator and the overlord are leaders each of their own.
leads() { get "$(url_of coordinator)/druid/$1/v1/isLeader" | grep -q true; }

# The overlord gives it tasks.
takes_tasks() {
  get "$(url_of coordinator)/druid/indexer/v1/workers" |
    jq -e --arg host "localhost:$(port_of "$1")" 'any(.[]; .worker.host == $host and .worker.version != "")' >/dev/null
}

# The coordinator gives it segments.
is_announced() {
  get "$(url_of coordinator)/druid/coordinator/v1/servers?simple" |
    jq -e --arg host "localhost:$(port_of "$1")" 'any(.[]; .host == $host)' >/dev/null
}

# ... and has found the historical to ask.
answers_sql() {
  get -H 'Content-Type: application/json' "$(url_of "$1")/druid/v2/sql" \
    -d "{\"query\":\"SELECT COUNT(*) AS n FROM sys.servers WHERE server_type = 'historical'\"}" |
    jq -e '.[0].n >= 1' >/dev/null
}

# wait_until_serving ROLE...: says when each does; fails, with the reason, when one ends
# or the time is over.
wait_until_serving() {
  local began=$SECONDS role waiting=("$@") left
  while [[ ${#waiting[@]} -gt 0 ]]; do
    left=()
    for role in "${waiting[@]}"; do
      if serves "$role"; then
        say "$role serves after $((SECONDS - began)) s"
      elif alive "$role"; then
        left+=("$role")
      else
        explain "$role" "ended"
        return 1
      fi
    done
    waiting=("${left[@]}")
    [[ ${#waiting[@]} -gt 0 ]] || return 0
    if [[ $((SECONDS - began)) -ge $timeout ]]; then
      for role in "${waiting[@]}"; do explain "$role" "does not serve after $timeout s"; done
      return 1
    fi
    sleep 0.5
  done
}

# explain ROLE WHAT: to stderr, with the last lines that it wrote.
explain() {
  local home=$dir/$1
  {
    echo "druid: $1 $2; see $home/log and $home/out"
    grep -vE '^INFO|GuiceComponentProviderFactory' "$home/out" 2>/dev/null | tail -n 5
    grep -hE ' (ERROR|FATAL) |Exception' "$home/log" 2>/dev/null | tail -n 5
  } >&2
}

# An archive of the classes that a version's processes load cuts a third of the CPU of a
# start (30 to 21 s of it for all roles). It is made of what the first start loaded.
# It only ever helps: a JVM that finds none, or one that does not fit, loads from the jars.

# class_archive ROLE JARS: the options to use JARS' archive, or to note what is loaded.
class_archive() {
  if [[ -f $2/classes.jsa ]]; then
    echo "-XX:SharedArchiveFile=$2/classes.jsa"
  elif [[ $2 == "$(jars_of "$version")" ]]; then
    echo "-XX:DumpLoadedClassList=$dir/$1/classes"
  fi
}

# In the background, and as the last to get a core.
record_classes() {
  local jars
  jars=$(jars_of "$version")
  [[ ! -f $jars/classes.jsa ]] || return 0
  nice -n 19 setsid "$here/archive-classes" "$java" "$jars" "$dir" 9>&- </dev/null >"$dir/classes.out" 2>&1 &
  echo $! >"$dir/classes.pid"
}

stop_recording() {
  local pid
  pid=$(cat "$dir/classes.pid")
  ! grep -qs archive-classes "/proc/$pid/cmdline" || kill -TERM -- "-$pid" 2>/dev/null || true
  rm -f "$dir/classes.pid"
}
