#!/usr/bin/env bash
# Apache Kafka in KRaft mode on 127.0.0.1, one broker or three, for the integration tests.
#
#   kafka.sh run COMMAND...   one broker up, the command, broker and data away
#   kafka.sh run3 COMMAND...  the same with three brokers
#   kafka.sh fetch            Java, Maven and the jars, if they are missing
#   kafka.sh start [3]        starts the broker, or three, and waits until they answer
#   kafka.sh restart N        starts broker N of a cluster again, after it was killed
#   kafka.sh stop             ends what runs; the data stay
#   kafka.sh wipe             ends what runs and deletes the data; the jars stay
#   kafka.sh bootstrap [3]    prints the addresses
#   kafka.sh folder [N]       prints the folder of broker N (1): logs/, pid, broker.log
#
# LETHE_KAFKA_HOME is where jars and data are kept (default: lethe-kafka in the
# user's cache folder), KAFKA_TEST_PORT the first port (default 29092; the four behind it
# are the controller's, SASL over TLS, mutual TLS, and TLS with an expired certificate;
# broker N has those 10*(N-1) further on).
# `run` gives its command the addresses in LETHE_BROKERS, LETHE_SASL_BROKER,
# LETHE_MTLS_BROKER, LETHE_EXPIRED_BROKER, the folder of the logs in LETHE_BROKER_DIR and
# that of the certificates in LETHE_BROKER_CERTIFICATES. Whoever comes over the first port
# may do everything, over the others what ACLs allow. Every user's password is his name
# with -secret behind it. `run3` gives all three addresses each time, and in
# LETHE_KAFKA_CLUSTER the folder with a folder for each broker, named 1 to 3. Its brokers
# take over from each other within seconds, where the defaults take ten.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${LETHE_KAFKA_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/lethe-kafka}
port=${KAFKA_TEST_PORT:-29092}
jars=$home/jars
data=$home/broker-$port
ready_seconds=90
stop_seconds=20

fail() { echo "kafka.sh: $*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

tools() {
  command -v java >/dev/null && command -v mvn >/dev/null && return
  command -v apt-get >/dev/null || fail "java (17 or later) and mvn are needed: install them"
  echo "kafka.sh: installing Java 17 and Maven" >&2
  as_root apt-get update -qq >&2
  as_root apt-get install -y -qq --no-install-recommends openjdk-17-jre-headless maven >/dev/null
}

# fetch leaves a stamp with the pom's checksum, so that another version is
# fetched into an empty folder and half a download is not taken for a whole one.
fetch() {
  tools
  local stamp
  stamp=$(sha256sum <"$here/pom.xml")
  [ "$(cat "$jars/stamp" 2>/dev/null)" != "$stamp" ] || return 0
  rm -rf "$jars"
  mkdir -p "$jars"
  mvn --batch-mode --quiet --file "$here/pom.xml" dependency:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$jars" >&2
  echo "$stamp" >"$jars/stamp"
}

# java_here keeps the log4j settings beside the data: a broker's log goes to
# its standard output, which is broker.log.
java_here() {
  local heap=$1
  shift
  exec java "-Xmx$heap" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.awt.headless=true \
    -Dlog4j2.configurationFile="$data/log4j2.properties" -cp "$jars/*" "$@"
}

node_port() { echo $((port + 10 * ($1 - 1))); }
settings() { echo "$data/$1/broker.properties"; }

# listed prints what a function prints for each of so many nodes, with commas.
listed() {
  local all=() i
  for i in $(seq "$2"); do all+=("$("$1" "$i")"); done
  local IFS=,
  echo "${all[*]}"
}
voter() { echo "$1@127.0.0.1:$(($(node_port "$1") + 1))"; }
clients() { echo "127.0.0.1:$(node_port "$1")"; }
users() { echo "127.0.0.1:$(($(node_port "$1") + 2))"; }
mutual() { echo "127.0.0.1:$(($(node_port "$1") + 3))"; }
expired() { echo "127.0.0.1:$(($(node_port "$1") + 4))"; }
# Two listeners are told to clients as being one port further on, where a test puts what disturbs them.
links() { echo "127.0.0.1:$(($(node_port "$1") + 5)),127.0.0.1:$(($(node_port "$1") + 7))"; }

# configure writes the settings of one of so many brokers.
configure() {
  local node=$1 nodes=$2 folder=$data/$1 first replicas=$(($2 < 3 ? 1 : 3))
  first=$(node_port "$node")
  mkdir -p "$folder"
  cat >"$data/log4j2.properties" <<'P'
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} %p %c{1}: %m%n
P
  cat >"$(settings "$node")" <<P
node.id=$node
process.roles=broker,controller
controller.quorum.voters=$(listed voter "$nodes")
controller.listener.names=QUORUM
listeners=CLIENTS://127.0.0.1:$first,QUORUM://127.0.0.1:$((first + 1)),USERS://127.0.0.1:$((first + 2)),MUTUAL://127.0.0.1:$((first + 3)),EXPIRED://127.0.0.1:$((first + 4)),LINK1://127.0.0.1:$((first + 5)),LINK2://127.0.0.1:$((first + 7))
advertised.listeners=CLIENTS://127.0.0.1:$first,USERS://127.0.0.1:$((first + 2)),MUTUAL://127.0.0.1:$((first + 3)),EXPIRED://127.0.0.1:$((first + 4)),LINK1://127.0.0.1:$((first + 6)),LINK2://127.0.0.1:$((first + 8))
listener.security.protocol.map=CLIENTS:PLAINTEXT,QUORUM:PLAINTEXT,USERS:SASL_SSL,MUTUAL:SSL,EXPIRED:SSL,LINK1:PLAINTEXT,LINK2:PLAINTEXT
ssl.keystore.type=PEM
ssl.keystore.location=$data/certificates/server.pem
ssl.truststore.type=PEM
ssl.truststore.location=$data/certificates/ca.crt
listener.name.mutual.ssl.client.auth=required
listener.name.expired.ssl.keystore.type=PEM
listener.name.expired.ssl.keystore.location=$data/certificates/expired.pem
sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512,PLAIN,OAUTHBEARER
listener.name.users.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.users.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.users.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_lethe="lethe-secret";
# Takes tokens that nobody signed: enough to see that lethe hands its token over.
listener.name.users.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
inter.broker.listener.name=CLIENTS
log.dirs=$folder/logs
# lethe makes its topics itself; a topic that appears on its own is a mistake.
auto.create.topics.enable=false
default.replication.factor=$replicas
offsets.topic.replication.factor=$replicas
offsets.topic.num.partitions=$replicas
transaction.state.log.replication.factor=$replicas
transaction.state.log.min.isr=1
# As docs/kafka.md asks for: erasures wait for the cleaner.
log.cleaner.backoff.ms=1000
# The default buffer of 128 MiB would not fit the heap.
log.cleaner.dedupe.buffer.size=16777216
P
  ((nodes > 1)) || return 0
  cat >>"$(settings "$node")" <<P
broker.rack=rack-$node
replica.selector.class=org.apache.kafka.common.replica.RackAwareReplicaSelector
num.network.threads=2
num.io.threads=2
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.heartbeat.interval.ms=300
broker.session.timeout.ms=3000
controller.quorum.election.timeout.ms=500
controller.quorum.election.backoff.max.ms=300
controller.quorum.fetch.timeout.ms=1500
# Or brokers wait half a minute for one that hangs.
controller.socket.timeout.ms=3000
replica.socket.timeout.ms=3000
P
}

# broker prints the id of the running broker N. A file of ids can be stale, so the
# process must be a Kafka with our settings.
broker() {
  local pid
  pid=$(cat "$data/$1/pid" 2>/dev/null) || return 1
  grep -qsF -- "$(settings "$1")" "/proc/$pid/cmdline" || return 1
  echo "$pid"
}

any_broker() {
  local folder
  for folder in "$data"/[0-9]; do
    broker "${folder##*/}" && return 0
  done
  return 1
}

taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

format() {
  local node=$1 users=() user mechanism
  for user in lethe producer compliance reader; do
    for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
      users+=(--add-scram "$mechanism=[name=$user,password=$user-secret]")
    done
  done
  (java_here 128m kafka.tools.StorageTool format --config "$(settings "$node")" "${users[@]}" \
    --cluster-id bGV0aGUtaW50ZWdyYXRpb24) >"$data/$node/format.log" 2>&1 ||
    { cat "$data/$node/format.log" >&2; fail "the folder of broker $node cannot be formatted"; }
}

# launch starts broker N. A background job of a script ignores interrupts, so one at
# the terminal reaches the script only, which ends the brokers in order.
launch() {
  local heap=384m
  [ ! -e "$data/2" ] || heap=256m
  (java_here "$heap" kafka.Kafka "$(settings "$1")") >"$data/$1/broker.log" 2>&1 </dev/null &
  echo $! >"$data/$1/pid"
}

await() {
  local pid log=$data/$1/broker.log deadline=$((SECONDS + ready_seconds))
  pid=$(cat "$data/$1/pid")
  until grep -qs 'Kafka Server started' "$log" && taken "$(node_port "$1")"; do
    kill -0 "$pid" 2>/dev/null || { tail -n 20 "$log" >&2; fail "broker $1 ended"; }
    ((SECONDS < deadline)) || { tail -n 20 "$log" >&2; fail "broker $1 is not up after $ready_seconds s"; }
    sleep 0.2
  done
}

start() {
  local nodes=${1:-1} node p formats=()
  ! any_broker >/dev/null || fail "a broker runs on port $port already: kafka.sh stop"
  for node in $(seq "$nodes"); do
    for p in $(seq "$(node_port "$node")" $(($(node_port "$node") + 8))); do
      ! taken "$p" || fail "port $p is in use: choose another with KAFKA_TEST_PORT"
    done
  done
  fetch
  [ -e "$data/certificates/ca.crt" ] ||
    (cd "$here" && go run ./certificates "$data/certificates") || fail "no certificates"
  for node in $(seq "$nodes"); do
    configure "$node" "$nodes"
    [ -e "$data/$node/logs/meta.properties" ] || { format "$node" & formats+=($!); }
  done
  for p in "${formats[@]}"; do wait "$p" || exit 1; done
  trap 'stop KILL' EXIT
  for node in $(seq "$nodes"); do launch "$node"; done
  for node in $(seq "$nodes"); do await "$node"; done
  trap - EXIT
}

# restart is for a broker of a cluster that was killed, while the others run. Somebody may have been given one of its
# ports meanwhile.
restart() {
  local p deadline=$((SECONDS + ready_seconds))
  ! broker "$1" >/dev/null || fail "broker $1 runs"
  for p in 0 1 2 3 4 5 7; do # where it listens
    while taken "$(($(node_port "$1") + p))"; do
      ((SECONDS < deadline)) || fail "port $(($(node_port "$1") + p)) is in use"
      sleep 0.2
    done
  done
  launch "$1"
  await "$1"
}

# stop sends TERM, or the signal given, and KILL when that is not enough. A broker
# that hangs has to go on first.
stop() {
  local pid folder pids=() deadline=$((SECONDS + stop_seconds))
  for folder in "$data"/[0-9]; do
    if pid=$(broker "${folder##*/}"); then
      # Otherwise the shell would report the end of a job of its own.
      disown "$pid" 2>/dev/null || true
      kill "-${1:-TERM}" "$pid" 2>/dev/null || true
      kill -CONT "$pid" 2>/dev/null || true
      pids+=("$pid")
    fi
    rm -f "$folder/pid"
  done
  for pid in "${pids[@]}"; do
    while kill -0 "$pid" 2>/dev/null; do
      ((SECONDS < deadline)) || kill -KILL "$pid" 2>/dev/null || true
      sleep 0.1
    done
  done
}

wipe() {
  stop KILL
  rm -rf "$data"
}

run() {
  local nodes=$1
  shift
  (($#)) || fail "run needs a command"
  ! any_broker >/dev/null || fail "a broker runs on port $port already: kafka.sh stop"
  rm -rf "$data"
  start "$nodes"
  trap wipe EXIT
  ((nodes == 1)) || export LETHE_KAFKA_CLUSTER=$data
  # The command gets a process group of its own, so that a signal to this script
  # ends it with everything it has started, before the broker goes.
  set -m
  LETHE_BROKERS=$(listed clients "$nodes") LETHE_BROKER_DIR=$data/1/logs \
    LETHE_SASL_BROKER=$(listed users "$nodes") LETHE_MTLS_BROKER=$(listed mutual "$nodes") \
    LETHE_EXPIRED_BROKER=$(listed expired "$nodes") LETHE_BROKER_LINKS=$(links 1) LETHE_BROKER_CERTIFICATES=$data/certificates "$@" &
  local child=$!
  set +m
  trap 'kill -TERM -- "-$child"; exit 130' INT
  trap 'kill -TERM -- "-$child"; exit 143' TERM HUP
  wait "$child"
}

command=${1:-}
shift || true
case $command in
  run) run 1 "$@" ;;
  run3) run 3 "$@" ;;
  start | restart) "$command" "$@" ;;
  fetch | stop | wipe) "$command" ;;
  bootstrap) listed clients "${1:-1}" ;;
  folder) echo "$data/${1:-1}" ;;
  *) sed -n '2,15p' "$0" | cut -c 3- >&2; exit 2 ;;
esac
