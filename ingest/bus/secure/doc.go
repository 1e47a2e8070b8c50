// Package secure makes the connections to brokers: TLS, with a certificate of its own if
// brokers ask for one, and SASL by PLAIN, SCRAM or OAUTHBEARER. What is secret stands in
// files, which are read anew for every connection: a password, token or certificate that
// was replaced is used from the next connection on.
//
// kafka-go can do both by itself, but its Transport tells every failure to connect as
// "Broker Not Available", and it takes certificates and passwords once. Here a connection
// is ready when kafka-go gets it, and a failure that an operator must mend says which
// broker, what is wrong and which setting to look at (RefusedError).
//
//	config.go                     the settings
//	dial.go                       a connection: TCP, TLS, SASL
//	encrypt.go                    TLS
//	authenticate.go, mechanism.go SASL's exchange; its mechanisms
//	oauthbearer.go                the mechanism that kafka-go does not have
//	refused.go                    what is wrong, and the setting to look at
package secure
