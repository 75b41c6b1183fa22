# shellcheck shell=bash
# Writing DIR/ROLE: what a process reads, in plain files that a person can read, change
# and run again (`cd DIR/ROLE && java @java.options`).

# render TEMPLATE: its text with this cluster's paths and ports in it.
render() {
  local text name
  text=$(<"$1")
  text=${text//@DIR@/"$dir"}
  text=${text//@JARS@/"$(jars_of "$version")"}
  text=${text//@JAVA@/"$java"}
  text=${text//@EXTENSIONS@/"$(extensions | quoted_list)"}
  text=${text//@TASK_OPTIONS@/"$(task_options | quoted_list)"}
  text=${text//@PORT_WORKER@/"$(port_of indexer)"}
  for name in zookeeper derby coordinator broker historical router kafka-controller kafka tasks-end tasks; do
    text=${text//@PORT_$(tr 'a-z-' 'A-Z_' <<<"$name")@/"$(port_of "$name")"}
  done
  printf '%s\n' "$text"
}

# Lines to the inside of a JSON list of strings.
quoted_list() { sed 's/.*/"&"/' | paste -sd,; }

# What stands in files of options, without their comments.
options() { sed -E 's/#.*//; /^[[:space:]]*$/d' "$@"; }

# The JVM flags of a middle manager's tasks, whose log goes to their output.
task_options() {
  options "$here/conf/java.options" "$here/conf/druid.options" | sed "s,=log4j2.xml,=log4j2-task.xml,"
}

# write_role ROLE: its folder, anew.
write_role() {
  local role=$1 home=$dir/$1
  mkdir -p "$home/tmp" "$dir/data"
  case $role in
    zookeeper) render "$here/conf/zookeeper.cfg" >"$home/zookeeper.cfg" ;;
    kafka) render "$here/conf/kafka.properties" >"$home/kafka.properties" ;;
    *)
      [[ ! -f $home/log ]] || mv "$home/log" "$home/log.1"
      cp "$here"/conf/log4j2*.xml "$home/"
      render "$here/conf/common.properties" >"$home/common.runtime.properties"
      role_properties "$role" >"$home/runtime.properties"
      ;;
  esac
  java_options "$role" >"$home/java.options"
}

# Of two lines with one name the later counts.
role_properties() {
  render "$here/conf/$1.properties"
  [[ $timings != fast || ! -f $here/conf/fast/$1.properties ]] || render "$here/conf/fast/$1.properties"
  overrides all
  overrides "$1"
}

# overrides ROLE: the --set lines for it.
overrides() {
  local setting
  for setting in "${sets[@]}"; do
    [[ ${setting%%:*} != "$1" ]] || printf '%s\n' "${setting#*:}"
  done
}

# java_options ROLE: everything after `java`.
java_options() {
  local role=$1 jars
  options "$here/conf/java.options"
  sed -n "s/^$role: *//p" "$here/conf/memory.options" | tr ' ' '\n'
  case $role in
    zookeeper)
      echo "-cp $(class_path "$(jars_of "$version")")"
      echo "org.apache.zookeeper.server.ZooKeeperServerMain zookeeper.cfg"
      ;;
    kafka)
      echo "-cp $(class_path "$cache/kafka-$kafka_version")"
      echo "kafka.Kafka kafka.properties"
      ;;
    *)
      options "$here/conf/druid.options"
      jars=$(jars_of "$(version_of "$role")")
      class_archive "$role" "$jars"
      echo "-cp $(class_path "$jars")"
      echo "org.apache.druid.cli.Main server ${role/middle-manager/middleManager}"
      ;;
  esac
}

# In a fixed order: an archive of classes is only good for the very same path.
class_path() { (LC_ALL=C; printf '%s\n' "$1"/lib/*.jar | paste -sd:); }

# DIR/env: what those who use the cluster need, in shell lines.
write_env() {
  {
    echo "DRUID_VERSION=$version"
    echo "DRUID_DIR=$dir"
    echo "DRUID_COORDINATOR=$(url_of coordinator)"
    echo "DRUID_OVERLORD=$(url_of coordinator)"
    echo "DRUID_BROKER=$(url_of broker)"
    [[ $router == no ]] || echo "DRUID_ROUTER=$(url_of router)"
    echo "DRUID_HISTORICAL=$(url_of historical)"
    echo "DRUID_WORKER=$(url_of "$worker")"
    echo "DRUID_DEEP_STORAGE=$dir/data/segments"
    [[ $kafka == no ]] || echo "KAFKA=localhost:$(port_of kafka)"
  } >"$dir/env.new"
  mv "$dir/env.new" "$dir/env"
}
