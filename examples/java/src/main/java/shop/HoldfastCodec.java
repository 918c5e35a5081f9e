package shop;

import com.google.protobuf.ByteString;
import io.temporal.api.common.v1.Payload;
import io.temporal.payload.codec.PayloadCodec;
import io.temporal.payload.codec.PayloadCodecException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Holdfast's encryption of payloads: AES-256-GCM under HOLDFAST_ENCRYPTION_KEYS. Encrypts with the first key and
 * decrypts with any: while keys are rotated, both old and new ones are read.
 */
final class HoldfastCodec implements PayloadCodec {
  private static final int IV_BYTES = 12;
  private static final int TAG_BITS = 128;

  private final SecureRandom random = new SecureRandom();
  private final Map<String, SecretKey> keys = new LinkedHashMap<>();
  private final String current;

  /** {@code text} is {@code id:base64[,id:base64]}, as the workers have it. */
  HoldfastCodec(String text) {
    for (String entry : text.strip().split(",")) {
      String[] parts = entry.strip().split(":", 2);
      byte[] key = parts.length == 2 ? Base64.getDecoder().decode(parts[1]) : new byte[0];
      if (key.length != 32)
        throw new IllegalArgumentException(
            "HOLDFAST_ENCRYPTION_KEYS: an entry is not an id, a colon, and the base64 of 32 bytes");
      keys.put(parts[0], new SecretKeySpec(key, "AES"));
    }
    current = keys.keySet().iterator().next();
  }

  @Override
  public List<Payload> encode(List<Payload> payloads) {
    return payloads.stream().map(this::encrypt).toList();
  }

  @Override
  public List<Payload> decode(List<Payload> payloads) {
    return payloads.stream().map(this::decrypt).toList();
  }

  private Payload encrypt(Payload payload) {
    byte[] iv = new byte[IV_BYTES];
    random.nextBytes(iv);
    // The whole payload, its metadata too; the tag of 16 bytes stands behind the ciphertext.
    byte[] ciphertext = apply(Cipher.ENCRYPT_MODE, keys.get(current), iv, payload.toByteArray());
    return Payload.newBuilder()
        .putMetadata("encoding", ByteString.copyFromUtf8("binary/encrypted"))
        .putMetadata("encryption-key-id", ByteString.copyFromUtf8(current))
        .putMetadata("holdfast-format", ByteString.copyFromUtf8("1"))
        .putMetadata("holdfast-aad", ByteString.copyFromUtf8("0"))
        .setData(ByteString.copyFrom(iv).concat(ByteString.copyFrom(ciphertext)))
        .build();
  }

  private Payload decrypt(Payload payload) {
    if (!metadata(payload, "encoding").equals("binary/encrypted")) return payload;
    if (!metadata(payload, "holdfast-format").equals("1"))
      throw new PayloadCodecException("a payload has a format that this codec does not know");
    String id = metadata(payload, "encryption-key-id");
    if (!keys.containsKey(id))
      throw new PayloadCodecException(
          "a payload is encrypted with key \"" + id + "\": add it to HOLDFAST_ENCRYPTION_KEYS");
    ByteString data = payload.getData();
    if (data.size() < IV_BYTES) throw new PayloadCodecException("an encrypted payload is too short");
    byte[] iv = data.substring(0, IV_BYTES).toByteArray();
    byte[] plain = apply(Cipher.DECRYPT_MODE, keys.get(id), iv, data.substring(IV_BYTES).toByteArray());
    try {
      return Payload.parseFrom(plain);
    } catch (com.google.protobuf.InvalidProtocolBufferException error) {
      throw new PayloadCodecException(error);
    }
  }

  private static byte[] apply(int mode, SecretKey key, byte[] iv, byte[] bytes) {
    try {
      Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
      cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, iv));
      return cipher.doFinal(bytes);
    } catch (GeneralSecurityException error) {
      throw new PayloadCodecException(error);
    }
  }

  private static String metadata(Payload payload, String name) {
    return payload.getMetadataOrDefault(name, ByteString.EMPTY).toStringUtf8();
  }
}
