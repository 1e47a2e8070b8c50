package secure

import (
	"fmt"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"lethe/internal/secretfile"
)

// mechanismOf reads the secret and returns the mechanism with it.
func mechanismOf(s *SASL) (sasl.Mechanism, error) {
	if s.Mechanism == OAuthBearer {
		token, err := secretfile.ReadLine(s.TokenFile)
		if err != nil {
			return nil, fileError(s.secretSetting(), err)
		}
		return oauthBearer{token}, nil
	}
	password, err := secretfile.ReadLine(s.PasswordFile)
	if err != nil {
		return nil, fileError(s.secretSetting(), err)
	}
	if s.Mechanism == Plain {
		return plain.Mechanism{Username: s.Username, Password: password}, nil
	}
	algorithm := scram.SHA256
	if s.Mechanism == ScramSHA512 {
		algorithm = scram.SHA512
	}
	mechanism, err := scram.Mechanism(algorithm, s.Username, password)
	if err != nil {
		// The library's error may contain the user or password.
		return nil, fileError("kafka.sasl.username and "+s.secretSetting(), errUnprepared)
	}
	return mechanism, nil
}

// secretSetting is the setting that names the file of the secret.
func (s *SASL) secretSetting() string {
	if s.Mechanism == OAuthBearer {
		return "kafka.sasl.token_file"
	}
	return "kafka.sasl.username and kafka.sasl.password_file"
}

// who is the name of the principal, if the settings contain it.
func (s *SASL) who() string {
	if s.Mechanism == OAuthBearer {
		return "the token"
	}
	return fmt.Sprintf("user %s with this password", s.Username)
}
