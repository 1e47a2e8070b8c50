#!/usr/bin/env bash
# One Apache Kafka broker in KRaft mode on 127.0.0.1, for the integration tests.
#
#   kafka.sh run COMMAND...   broker up, the command, broker and data away
#   kafka.sh fetch            Java, Maven and the jars, if they are missing
#   kafka.sh start            starts the broker and waits until it answers
#   kafka.sh stop             ends it; the data stay
#   kafka.sh wipe             ends it and deletes the data; the jars stay
#   kafka.sh bootstrap        prints its address
#   kafka.sh folder           prints the folder of its logs
#
# LETHE_KAFKA_HOME is where jars and data are kept (default: lethe-kafka in the
# user's cache folder), KAFKA_TEST_PORT the port (default 29092; the four behind it
# are the controller's, SASL over TLS, mutual TLS, and TLS with an expired certificate).
# `run` gives its command the addresses in LETHE_BROKERS, LETHE_SASL_BROKER,
# LETHE_MTLS_BROKER, LETHE_EXPIRED_BROKER, the folder of the logs in LETHE_BROKER_DIR and
# that of the certificates in LETHE_BROKER_CERTIFICATES. Whoever comes over the first port
# may do everything, over the others what ACLs allow. Every user's password is his name
# with -secret behind it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${LETHE_KAFKA_HOME:-${XDG_CACHE_HOME:-$HOME/.cache}/lethe-kafka}
port=${KAFKA_TEST_PORT:-29092}
jars=$home/jars
data=$home/broker-$port
settings=$data/broker.properties
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

# java_here keeps the log4j settings beside the data: the broker's log goes to
# its standard output, which is broker.log.
java_here() {
  local heap=$1
  shift
  exec java "-Xmx$heap" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.awt.headless=true \
    -Dlog4j2.configurationFile="$data/log4j2.properties" -cp "$jars/*" "$@"
}

configure() {
  mkdir -p "$data"
  cat >"$data/log4j2.properties" <<'P'
rootLogger.level=info
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{ISO8601} %p %c{1}: %m%n
P
  cat >"$settings" <<P
node.id=1
process.roles=broker,controller
controller.quorum.voters=1@127.0.0.1:$((port + 1))
controller.listener.names=QUORUM
listeners=CLIENTS://127.0.0.1:$port,QUORUM://127.0.0.1:$((port + 1)),USERS://127.0.0.1:$((port + 2)),MUTUAL://127.0.0.1:$((port + 3)),EXPIRED://127.0.0.1:$((port + 4))
listener.security.protocol.map=CLIENTS:PLAINTEXT,QUORUM:PLAINTEXT,USERS:SASL_SSL,MUTUAL:SSL,EXPIRED:SSL
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
log.dirs=$data/logs
# lethe makes its topics itself; a topic that appears on its own is a mistake.
auto.create.topics.enable=false
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
# As docs/kafka.md asks for: erasures wait for the cleaner.
log.cleaner.backoff.ms=1000
# The default buffer of 128 MiB would not fit the heap.
log.cleaner.dedupe.buffer.size=16777216
P
}

# broker prints the id of the running broker. A file of ids can be stale, so the
# process must be a Kafka with our settings.
broker() {
  local pid
  pid=$(cat "$data/pid" 2>/dev/null) || return 1
  grep -qsF -- "$settings" "/proc/$pid/cmdline" || return 1
  echo "$pid"
}

taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

start() {
  ! broker >/dev/null || fail "a broker runs on port $port already: kafka.sh stop"
  for p in $(seq "$port" $((port + 4))); do
    ! taken "$p" || fail "port $p is in use: choose another with KAFKA_TEST_PORT"
  done
  fetch
  configure
  if [ ! -e "$data/logs/meta.properties" ]; then
    (cd "$here" && go run ./certificates "$data/certificates") || fail "no certificates"
    local users=() user mechanism
    for user in lethe producer compliance reader; do
      for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
        users+=(--add-scram "$mechanism=[name=$user,password=$user-secret]")
      done
    done
    (java_here 128m kafka.tools.StorageTool format --config "$settings" "${users[@]}" \
      --cluster-id bGV0aGUtaW50ZWdyYXRpb24) >"$data/format.log" 2>&1 ||
      { cat "$data/format.log" >&2; fail "the broker's folder cannot be formatted"; }
  fi
  trap 'stop KILL' EXIT
  # A background job of a script ignores interrupts, so one at the terminal
  # reaches the script only, which ends the broker in order.
  (java_here 384m kafka.Kafka "$settings") >"$data/broker.log" 2>&1 </dev/null &
  echo $! >"$data/pid"
  local pid=$! deadline=$((SECONDS + ready_seconds))
  until grep -qs 'Kafka Server started' "$data/broker.log" && taken "$port"; do
    kill -0 "$pid" 2>/dev/null || { tail -n 20 "$data/broker.log" >&2; fail "the broker ended"; }
    ((SECONDS < deadline)) || { tail -n 20 "$data/broker.log" >&2; fail "the broker is not up after $ready_seconds s"; }
    sleep 0.2
  done
  trap - EXIT
}

# stop sends TERM, or the signal given, and KILL when that is not enough.
stop() {
  local pid deadline=$((SECONDS + stop_seconds))
  if pid=$(broker); then
    # Otherwise the shell would report the end of a job of its own.
    disown "$pid" 2>/dev/null || true
    kill "-${1:-TERM}" "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do
      ((SECONDS < deadline)) || kill -KILL "$pid" 2>/dev/null || true
      sleep 0.1
    done
  fi
  rm -f "$data/pid"
}

wipe() {
  stop KILL
  rm -rf "$data"
}

run() {
  (($#)) || fail "run needs a command"
  ! broker >/dev/null || fail "a broker runs on port $port already: kafka.sh stop"
  rm -rf "$data"
  start
  trap wipe EXIT
  # The command gets a process group of its own, so that a signal to this script
  # ends it with everything it has started, before the broker goes.
  set -m
  LETHE_BROKERS=127.0.0.1:$port LETHE_BROKER_DIR=$data/logs \
    LETHE_SASL_BROKER=127.0.0.1:$((port + 2)) LETHE_MTLS_BROKER=127.0.0.1:$((port + 3)) \
    LETHE_EXPIRED_BROKER=127.0.0.1:$((port + 4)) LETHE_BROKER_CERTIFICATES=$data/certificates "$@" &
  local child=$!
  set +m
  trap 'kill -TERM -- "-$child"; exit 130' INT
  trap 'kill -TERM -- "-$child"; exit 143' TERM HUP
  wait "$child"
}

command=${1:-}
shift || true
case $command in
  run) run "$@" ;;
  fetch | start | stop | wipe) "$command" ;;
  bootstrap) echo "127.0.0.1:$port" ;;
  folder) echo "$data/logs" ;;
  *) sed -n '2,15p' "$0" | cut -c 3- >&2; exit 2 ;;
esac
