# shellcheck shell=bash
# Fetching: Druid and Kafka out of the Maven registry, once for a working copy.

kafka_version=4.3.1

require_tools() {
  local missing=no
  find_java || missing=yes
  command -v mvn curl jq flock >/dev/null || missing=yes
  if [[ $missing == yes ]]; then
    "$here/../packages/install" druid || die 1 "could not install what Druid needs"
    find_java || die 1 "no Java 17 found"
  fi
}

# Sets java. Druid of every version here runs on 17, which is not always the default.
find_java() {
  local candidate
  for candidate in /usr/lib/jvm/java-17-openjdk-*/bin/java "${JAVA_HOME:-/nonexistent}/bin/java"; do
    if [[ -x $candidate ]] && "$candidate" -version 2>&1 | grep -q 'version "17\.'; then
      java=$candidate
      return 0
    fi
  done
  return 1
}

# Prints the folder of a version's jars: lib/, extensions/.
jars_of() { echo "$cache/druid-$1"; }

fetch_all() {
  local v name
  for v in $(for role in coordinator broker; do version_of $role; done | sort -u); do
    fetch "druid-$v" fetch_druid "$v"
  done
  for name in $(extensions); do
    fetch "druid-$version/extensions/$name" fetch_extension "$version" "$name"
  done
  [[ $kafka == no ]] || fetch "kafka-$kafka_version" fetch_kafka
}

# Names of the extensions to load. Kafka's is only for clusters with Kafka.
extensions() {
  local path
  for path in "$here/versions/$version/extensions"/*/; do
    [[ -d $path && ($kafka == yes || ${path%/} != */$kafka_extension) ]] || continue
    basename "$path"
  done
}

# fetch NAME COMMAND...: makes $cache/NAME by COMMAND... FOLDER, whole or not at all, and
# once however many ask at the same time. (Nor is Maven's own store made to be shared.)
fetch() {
  local name=$1 temp
  shift
  [[ ! -d $cache/$name ]] || return 0
  mkdir -p "$cache"
  exec 8>"$cache/.lock"
  flock -n 8 || { say "waiting for another fetch"; flock 8; }
  if [[ ! -d $cache/$name ]]; then
    rm -rf "$cache"/.fetch.*
    temp=$(mktemp -d "$cache/.fetch.XXXXXX")
    "$@" "$temp" || die 1 "could not fetch $name"
    chmod 755 "$temp"
    mkdir -p "$(dirname "$cache/$name")"
    mv -T "$temp" "$cache/$name"
  fi
  exec 8>&-
}

# maven POM FOLDER: the jars that POM asks for. A registry that fails once is asked again.
maven() {
  local try output
  for try in 1 2 3; do
    output=$(mvn -B -ntp -q -f "$1" dependency:copy-dependencies -DincludeScope=runtime \
      -DoutputDirectory="$2" 2>&1 8>&- 9>&-) && return 0
    printf '%s\n' "$output" >&2
    [[ $try == 3 ]] || { say "Maven failed, trying again"; sleep 5; }
  done
  return 1
}

fetch_druid() {
  say "fetching Druid $1 (180 MB, once; about two minutes)"
  mkdir "$2/extensions"
  maven "$here/versions/$1/pom.xml" "$2/lib" || return 1
  [[ ! -f $here/versions/$1/stand-ins.txt ]] || compile_stand_ins "$here/versions/$1/stand-ins.txt" "$2"
}

# fetch_extension VERSION NAME FOLDER: only what Druid's own lib lacks, so that no class
# is there twice.
fetch_extension() {
  say "fetching Druid's extension $2"
  maven "$here/versions/$1/extensions/$2/pom.xml" "$3" || return 1
  local jar
  for jar in "$3"/*.jar; do
    [[ ! -e $(jars_of "$1")/lib/$(basename "$jar") ]] || rm "$jar"
  done
}

fetch_kafka() {
  say "fetching Kafka $kafka_version (45 MB, once)"
  maven "$here/versions/kafka-$kafka_version/pom.xml" "$1/lib"
}

# compile_stand_ins LIST FOLDER: a jar of empty classes for those that LIST names.
compile_stand_ins() {
  local class source work=$2/stand-ins
  mkdir -p "$work/src" "$work/classes"
  while read -r class; do
    source=$work/src/${class//.//}.java
    mkdir -p "$(dirname "$source")"
    stand_in "${class%.*}" "${class##*.}" >"$source"
  done < <(sed -E 's/#.*//; /^[[:space:]]*$/d' "$1")
  find "$work/src" -name '*.java' >"$work/sources"
  "$(dirname "$java")/javac" -nowarn -proc:none -cp "$2/lib/*" -d "$work/classes" @"$work/sources" || return 1
  "$(dirname "$java")/jar" --create --file "$2/lib/stand-ins.jar" -C "$work/classes" . || return 1
  rm -r "$work"
}

# stand_in PACKAGE CLASS: its source.
stand_in() {
  echo "package $1;"
  if [[ $2 == *Module ]]; then
    cat <<END
public class $2 implements org.apache.druid.initialization.DruidModule {
  @Override
  public void configure(com.google.inject.Binder binder) {}
}
END
  else
    echo "public class $2 { @com.google.inject.Inject public $2() {} }"
  fi
}
