# shellcheck shell=bash
# An archive of the classes that a version's processes load cuts a start's CPU by half
# (30 to 15 s of it for all roles). It costs 23 s of CPU, so the second start of a version
# has it made, out of what that start loaded; a version that is started once never pays.
# It only ever helps: a JVM that finds none, or one that does not fit, loads from the jars.

# class_archive ROLE JARS: the options to use JARS' archive, or to note what is loaded.
class_archive() {
  if [[ -f $2/shared-classes.jsa ]]; then
    echo "-XX:SharedArchiveFile=$2/shared-classes.jsa"
  elif [[ -f $2/started && $2 == "$(jars_of "$version")" ]]; then
    echo "-XX:DumpLoadedClassList=$dir/$1/classes"
  fi
}

# In the background, and as the last to get a core.
record_classes() {
  local jars
  jars=$(jars_of "$version")
  [[ ! -f $jars/shared-classes.jsa ]] || return 0
  if ! compgen -G "$dir/*/classes" >/dev/null; then
    touch "$jars/started"
    return 0
  fi
  nice -n 19 setsid "$here/archive-classes" "$java" "$jars" "$dir" 9>&- </dev/null >"$dir/classes.out" 2>&1 &
  echo $! >"$dir/classes.pid"
}

stop_recording() {
  local pid
  pid=$(cat "$dir/classes.pid")
  ! grep -qs archive-classes "/proc/$pid/cmdline" || kill -TERM -- "-$pid" 2>/dev/null || true
  rm -f "$dir/classes.pid"
}
