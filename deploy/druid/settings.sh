# shellcheck shell=bash
# What a cluster is made of: flags, the record of them in DIR/settings, roles and ports.

default_version=33.0.0
dir=$repo/.run/druid
version=$default_version
port_base=8000
kafka=no
router=no
worker=indexer
timings=fast
timeout=240
sets=()
# Names of the flags that were given: a command on a started cluster compares them.
given=()

parse() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --dir | --version | --port-base | --set | --timeout)
        [[ $# -gt 1 ]] || die 2 "$1 wants a value"
        set_flag "$1" "$2"
        shift
        ;;
      --dir=* | --version=* | --port-base=* | --set=* | --timeout=*) set_flag "${1%%=*}" "${1#*=}" ;;
      --kafka) kafka=yes given+=(kafka) ;;
      --router) router=yes given+=(router) ;;
      --middle-manager) worker=middle-manager given+=(worker) ;;
      --druid-timings) timings=druid given+=(timings) ;;
      *) die 2 "no flag '$1'; see: deploy/druid/run help" ;;
    esac
    shift
  done
  dir=$(realpath -m "$dir")
  # These go into properties, URIs and lists of options, each with a quoting of its own.
  [[ $dir =~ ^[A-Za-z0-9._/+-]+$ ]] || die 2 "--dir: only letters, digits and . _ / + - may stand in '$dir'"
}

set_flag() {
  [[ -n $2 ]] || die 2 "$1 wants a value"
  case $1 in
    --dir) dir=$2 ;;
    --version) version=$2 given+=(version) ;;
    --port-base)
      # The last port is N+199; from 32768 on the kernel hands ports to whoever asks.
      [[ $2 =~ ^[0-9]{4,5}$ && $((10#$2)) -ge 1024 && $((10#$2)) -le 32000 ]] ||
        die 2 "--port-base wants a number from 1024 to 32000, not '$2'"
      port_base=$((10#$2)) given+=(port_base)
      ;;
    --timeout)
      [[ $2 =~ ^[1-9][0-9]{0,4}$ ]] || die 2 "--timeout wants seconds, not '$2'"
      timeout=$2
      ;;
    --set)
      [[ $2 =~ ^(all|coordinator|overlord|indexer|middle-manager|historical|broker|router):[A-Za-z0-9._-]+=.*$ ]] ||
        die 2 "--set wants ROLE:NAME=VALUE with a Druid role or all, not '$2'"
      sets+=("${2/#overlord:/coordinator:}") given+=(sets)
      ;;
  esac
}

check_settings() {
  [[ -f $here/versions/$version/pom.xml && $version != kafka-* ]] ||
    die 2 "no version '$version'; there are: $(cd "$here/versions" && printf '%s\n' [0-9]*/pom.xml | sed 's,/.*,,' | paste -sd' ')"
  [[ $kafka == no || -d $here/versions/$version/extensions/$kafka_extension ]] ||
    die 2 "--kafka: the Kafka extension is to be had for $default_version only"
  local setting
  for setting in "${sets[@]}"; do
    [[ ${setting%%:*} == all ]] || roles | grep -qx -- "${setting%%:*}" ||
      die 2 "--set $setting: this cluster has no ${setting%%:*}"
  done
}

kafka_extension=druid-kafka-indexing-service

settings() {
  echo "version=$version"
  echo "port_base=$port_base"
  echo "kafka=$kafka"
  echo "router=$router"
  echo "worker=$worker"
  echo "timings=$timings"
  local setting
  for setting in "${sets[@]}"; do echo "set=$setting"; done
}

# Reads DIR/settings; a flag given on the command line must say the same.
load_settings() {
  local name value asked
  asked=$(for name in "${given[@]}"; do [[ $name == sets ]] || echo "$name=${!name}"; done)
  [[ ${#sets[@]} -eq 0 ]] || die 2 "--set is for start; edit DIR/ROLE/runtime.properties and restart-role to change a running one"
  while IFS='=' read -r name value; do
    case $name in
      version | port_base | kafka | router | worker | timings) printf -v "$name" '%s' "$value" ;;
      set) sets+=("$value") ;;
    esac
  done <"$dir/settings"
  [[ -z $asked ]] || while IFS='=' read -r name value; do
    [[ ${!name} == "$value" ]] || die 2 "$dir was started with $name=${!name}, not $value"
  done <<<"$asked"
}

# Names of the roles, in the order in which they are started.
roles() {
  echo zookeeper
  [[ $kafka == no ]] || echo kafka
  printf '%s\n' coordinator "$worker" historical broker
  [[ $router == no ]] || echo router
}

# port_of NAME: the port of a role, or of what stands inside one.
port_of() {
  local offset
  case $1 in
    zookeeper) offset=21 ;;
    derby) offset=27 ;;
    coordinator) offset=81 ;;
    broker) offset=82 ;;
    historical) offset=83 ;;
    router) offset=88 ;;
    indexer | middle-manager) offset=91 ;;
    kafka) offset=92 ;;
    kafka-controller) offset=93 ;;
    # The JVMs of a middle manager's tasks: N+100 to N+199.
    tasks) offset=100 ;;
    tasks-end) offset=199 ;;
  esac
  echo $((port_base + offset))
}

url_of() { echo "http://localhost:$(port_of "$1")"; }

# version_of ROLE: the broker of 37.0.0 is 33.0.0's, since the registry lacks 37's SQL.
version_of() {
  local other=$here/versions/$version/query-version
  if [[ ($1 == broker || $1 == router) && -f $other ]]; then cat "$other"; else echo "$version"; fi
}
