package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"
)

// holdfastCodec is Holdfast's encryption of payloads: AES-256-GCM under HOLDFAST_ENCRYPTION_KEYS. It encrypts with the
// first key and decrypts with any: while keys are rotated, both old and new ones are read.
type holdfastCodec struct {
	keys    map[string]cipher.AEAD
	current string
}

// newHoldfastCodec takes `id:base64[,id:base64]`, as the workers have it.
func newHoldfastCodec(text string) (*holdfastCodec, error) {
	codec := &holdfastCodec{keys: map[string]cipher.AEAD{}}
	for _, entry := range strings.Split(text, ",") {
		id, encoded, _ := strings.Cut(strings.TrimSpace(entry), ":")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("HOLDFAST_ENCRYPTION_KEYS: key %q is not the base64 of 32 bytes", id)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if codec.keys[id], err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
		if codec.current == "" {
			codec.current = id
		}
	}
	return codec, nil
}

func (c *holdfastCodec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(payloads, c.encrypt)
}

func (c *holdfastCodec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	return each(payloads, c.decrypt)
}

func (c *holdfastCodec) encrypt(payload *commonpb.Payload) (*commonpb.Payload, error) {
	// The whole payload, its metadata too.
	plain, err := proto.Marshal(payload)
	if err != nil {
		return nil, err
	}
	key := c.keys[c.current]
	iv := make([]byte, key.NonceSize())
	rand.Read(iv) // Never fails.
	return &commonpb.Payload{
		Metadata: map[string][]byte{
			"encoding":          []byte("binary/encrypted"),
			"encryption-key-id": []byte(c.current),
			"holdfast-format":   []byte("1"),
			"holdfast-aad":      []byte("0"),
		},
		// The IV, the ciphertext, and the tag of 16 bytes.
		Data: key.Seal(iv, iv, plain, nil),
	}, nil
}

func (c *holdfastCodec) decrypt(payload *commonpb.Payload) (*commonpb.Payload, error) {
	if string(payload.Metadata["encoding"]) != "binary/encrypted" {
		return payload, nil
	}
	if string(payload.Metadata["holdfast-format"]) != "1" {
		return nil, errors.New("a payload has a format that this codec does not know")
	}
	id := string(payload.Metadata["encryption-key-id"])
	key, known := c.keys[id]
	if !known {
		return nil, fmt.Errorf("a payload is encrypted with key %q: add it to HOLDFAST_ENCRYPTION_KEYS", id)
	}
	if len(payload.Data) < key.NonceSize() {
		return nil, errors.New("an encrypted payload is too short")
	}
	iv, ciphertext := payload.Data[:key.NonceSize()], payload.Data[key.NonceSize():]
	plain, err := key.Open(nil, iv, ciphertext, nil)
	if err != nil {
		return nil, err
	}
	inner := &commonpb.Payload{}
	return inner, proto.Unmarshal(plain, inner)
}

func each(
	payloads []*commonpb.Payload,
	change func(*commonpb.Payload) (*commonpb.Payload, error),
) ([]*commonpb.Payload, error) {
	changed := make([]*commonpb.Payload, len(payloads))
	for at, payload := range payloads {
		one, err := change(payload)
		if err != nil {
			return nil, err
		}
		changed[at] = one
	}
	return changed, nil
}
