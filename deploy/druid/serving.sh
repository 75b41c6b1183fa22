# shellcheck shell=bash
# Whether a role does its work, not only whether its port is open.

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

# Set by a signal: whoever waits looks at it.
interrupted=no

# wait_until_serving ROLE...: says when each does; fails, with the reason, when one ends,
# the time is over or a signal came.
wait_until_serving() {
  local began=$SECONDS role waiting=("$@") left
  while [[ ${#waiting[@]} -gt 0 ]]; do
    if [[ $interrupted == yes ]]; then
      say "interrupted: stopping what was started"
      return 1
    fi
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
