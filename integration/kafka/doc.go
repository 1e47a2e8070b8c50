// Package kafka holds the tests that run the real lethe binary on a real Apache
// Kafka: `make kafka-test`. They skip unless LETHE_BROKERS names a broker, in
// which they work under topic prefixes of their own and delete their topics at
// the end. LETHE_BROKER_DIR, if set, is the folder of that broker's logs, which
// is then searched byte by byte after an erasure.
//
//	kafka.sh          one broker on 127.0.0.1, or three
//	harness_test.go   a deployment: topics, processes, commands
//	residue_test.go   the search for what should be gone
//	brokers_test.go   three brokers that are killed and hang; faults_test.go: one that does
//	secured_test.go   TLS, SASL, ACLs; certificates/ makes the certificates
package kafka
