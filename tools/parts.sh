#!/bin/sh
# Fetches real brokers for tests into a folder: mosquitto out of packages of Debian, Kafka from Maven.
# Nothing is installed.  sh tools/parts.sh out/parts
set -e
mkdir -p "$1/mosquitto" "$1/packages"
cd "$1"
if command -v apt-get >/dev/null && command -v dpkg >/dev/null; then
  (cd packages && apt-get download mosquitto libmosquitto1 libwrap0 libdlt2 libcjson1)
  for package in packages/*.deb; do dpkg -x "$package" mosquitto; done
else
  echo "mosquitto is left out: apt-get is not here; one on the path will do" >&2
fi
if command -v mvn >/dev/null; then
  cat > pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>parts</groupId><artifactId>parts</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>
<version>4.3.1</version></dependency></dependencies></project>
POM
  mvn -q -B -Dmaven.repo.local="$PWD/maven" -f pom.xml dependency:copy-dependencies \
    -DoutputDirectory="$PWD/kafka" -DincludeScope=runtime
else
  echo "Kafka is left out: mvn is not here" >&2
fi
