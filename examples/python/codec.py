"""Holdfast's encryption of payloads, for Temporal's Python SDK: AES-256-GCM under HOLDFAST_ENCRYPTION_KEYS."""

import base64
import os
from collections.abc import Sequence

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

IV_BYTES = 12


class HoldfastCodec(PayloadCodec):
    """Encrypts with the first key, decrypts with any: while keys are rotated, both old and new ones are read."""

    def __init__(self, keys: str) -> None:
        """`keys` is `id:base64[,id:base64]`, as the workers have it."""
        entries = [entry.strip().split(":", 1) for entry in keys.split(",")]
        self._keys = {key_id: AESGCM(base64.b64decode(key)) for key_id, key in entries}
        self._current = entries[0][0]

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._encrypt(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [self._decrypt(payload) for payload in payloads]

    def _encrypt(self, payload: Payload) -> Payload:
        iv = os.urandom(IV_BYTES)
        # The whole payload, its metadata too; the tag of 16 bytes stands behind the ciphertext.
        sealed = iv + self._keys[self._current].encrypt(iv, payload.SerializeToString(), None)
        metadata = {
            "encoding": b"binary/encrypted",
            "encryption-key-id": self._current.encode(),
            "holdfast-format": b"1",
            "holdfast-aad": b"0",
        }
        return Payload(metadata=metadata, data=sealed)

    def _decrypt(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != b"binary/encrypted":
            return payload
        if payload.metadata.get("holdfast-format") != b"1":
            raise ValueError("a payload has a format that this codec does not know")
        key_id = payload.metadata["encryption-key-id"].decode()
        if key_id not in self._keys:
            raise ValueError(f"a payload is encrypted with key {key_id!r}: add it to HOLDFAST_ENCRYPTION_KEYS")
        iv, ciphertext = payload.data[:IV_BYTES], payload.data[IV_BYTES:]
        return Payload.FromString(self._keys[key_id].decrypt(iv, ciphertext, None))
