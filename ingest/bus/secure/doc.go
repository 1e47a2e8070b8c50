// Package secure makes the connections to brokers: TLS, with a client certificate if brokers
// require one, and SASL by PLAIN, SCRAM or OAUTHBEARER. Secrets are in files, which are read for
// every connection: a replaced password, token or certificate is used from the next connection on.
//
// kafka-go can do both by itself, but its Transport reports every failure to connect as "Broker Not
// Available", and it reads certificates and passwords once. Here a connection is ready when
// kafka-go gets it, and a failure that an operator must fix names the broker, the cause and the
// setting to check (RefusedError).
//
//	config.go                     the settings
//	dial.go                       a connection: TCP, TLS, SASL
//	encrypt.go                    TLS
//	authenticate.go, mechanism.go SASL's exchange; its mechanisms
//	oauthbearer.go                the mechanism that kafka-go does not have
//	refused.go                    the cause of a failure, and the setting to check
package secure
