import Foundation
import Testing

@testable import Cryptography

private func hex(_ text: String) -> [UInt8] {
  let digits = Array(text.utf8)
  return stride(from: 0, to: digits.count, by: 2).map {
    UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) ?? 0
  }
}

private func text(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

@Suite struct HashTests {
  @Test("The hashes of abc are those of FIPS 180-4")
  func vectors() {
    let abc = Array("abc".utf8)
    #expect(text(Insecure.SHA1.hash(data: abc)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      text(SHA256.hash(data: abc)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      text(SHA512.hash(data: abc))
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f")
    #expect(
      text(SHA256.hash(data: [UInt8]())) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  }

  @Test(
    "Pieces hash as the whole does, and a hasher goes on after a hash was taken", arguments: [1, 3, 63, 64, 65, 1000])
  func pieces(_ size: Int) {
    let whole = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var hasher = SHA256()
    var digests: [SHA256Digest] = []
    for start in stride(from: 0, to: whole.count, by: size) {
      hasher.update(data: Array(whole[start..<min(start + size, whole.count)]))
      digests.append(hasher.finalize())
    }
    #expect(digests.last == SHA256.hash(data: whole))
    #expect(digests.first == SHA256.hash(data: Array(whole.prefix(size))))
  }

  @Test("A copy of a hasher goes on by itself")
  func copies() {
    var first = Insecure.SHA1()
    first.update(data: Array("ab".utf8))
    var second = first
    first.update(data: Array("c".utf8))
    second.update(data: Array("d".utf8))
    #expect(first.finalize() == Insecure.SHA1.hash(data: Array("abc".utf8)))
    #expect(second.finalize() == Insecure.SHA1.hash(data: Array("abd".utf8)))
  }

  @Test("Digests are sequences of their bytes")
  func sequences() {
    let digest = Insecure.SHA1.hash(data: [UInt8]())
    #expect(Array(digest).count == 20 && digest.count == 20)
    #expect(digest.withUnsafeBytes { Array($0) } == Array(digest))
    #expect(Data(digest).count == 20)
  }
}

@Suite struct AuthenticationTests {
  @Test("HMAC is as RFC 4231, section 4, has it")
  func hmac() {
    let first = HMAC.authenticationCode(
      for: Array("Hi There".utf8), using: SymmetricKey(data: [UInt8](repeating: 0x0b, count: 20)))
    #expect(text(first) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    let second = HMAC.authenticationCode(
      for: Array("what do ya want for nothing?".utf8), using: SymmetricKey(data: Array("Jefe".utf8)))
    #expect(text(second) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test("An empty key and an empty message have a code, whatever was hashed before")
  func emptyKey() {
    _ = HMAC.authenticationCode(for: [UInt8](), using: SymmetricKey(data: Array("other".utf8)))
    let code = HMAC.authenticationCode(for: [UInt8](), using: SymmetricKey(data: [UInt8]()))
    #expect(text(code) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test("A code is valid for its message and key only")
  func validity() {
    let key = SymmetricKey(size: 32)
    let code = HMAC.authenticationCode(for: [1, 2, 3] as [UInt8], using: key)
    #expect(HMAC.isValidAuthenticationCode(code, authenticating: [1, 2, 3] as [UInt8], using: key))
    #expect(!HMAC.isValidAuthenticationCode(code, authenticating: [1, 2] as [UInt8], using: key))
    #expect(!HMAC.isValidAuthenticationCode(Array(code.dropLast()), authenticating: [1, 2, 3] as [UInt8], using: key))
    #expect(!HMAC.isValidAuthenticationCode(code, authenticating: [1, 2, 3] as [UInt8], using: SymmetricKey(size: 32)))
  }

  @Test("HKDF is as RFC 5869, appendix A.1 and A.3, has it")
  func hkdf() {
    let material = SymmetricKey(data: [UInt8](repeating: 0x0b, count: 22))
    let salt = Array(0...0x0c as ClosedRange<UInt8>)
    let root = HKDF.extract(inputKeyMaterial: material, salt: salt)
    #expect(
      text(root.withUnsafeBytes { Array($0) }) == "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
    let first = HKDF.deriveKey(
      inputKeyMaterial: material, salt: salt, info: Array(0xf0...0xf9 as ClosedRange<UInt8>), outputByteCount: 42)
    #expect(
      text(first.withUnsafeBytes { Array($0) })
        == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    let third = HKDF.deriveKey(inputKeyMaterial: material, salt: [], info: [], outputByteCount: 42)
    #expect(
      text(third.withUnsafeBytes { Array($0) })
        == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
  }

  @Test("Keys are equal by their bytes")
  func keys() {
    #expect(SymmetricKey(data: [1, 2] as [UInt8]) == SymmetricKey(data: [1, 2] as [UInt8]))
    #expect(SymmetricKey(data: [1, 2] as [UInt8]) != SymmetricKey(data: [1, 3] as [UInt8]))
    #expect(SymmetricKey(data: [1, 2] as [UInt8]) != SymmetricKey(data: [1] as [UInt8]))
    #expect(SymmetricKey(size: 32) != SymmetricKey(size: 32))
    #expect(SymmetricKey(size: 16).count == 16)
  }
}

@Suite struct CipherTests {
  @Test("ChaCha20-Poly1305 is as RFC 8439, section 2.8.2, has it")
  func chaCha() {
    let message = Array(
      ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be "
        + "it.").utf8)
    let sealed = AuthenticatedCipher.chaCha20Poly1305.seal(
      message, using: SymmetricKey(data: Array(0x80...0x9f as ClosedRange<UInt8>)),
      nonce: hex("070000004041424344454647"), authenticating: hex("50515253c0c1c2c3c4c5c6c7"))
    #expect(text(sealed).hasPrefix("d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"))
    #expect(text(sealed).hasSuffix("6116" + "1ae10b594f09e26a7e902ecbd0600691"))
  }

  @Test("AES-256-GCM is as test case 14 of its specification has it")
  func galois() {
    let sealed = AuthenticatedCipher.aes256GCM.seal(
      [UInt8](repeating: 0, count: 16), using: SymmetricKey(data: [UInt8](repeating: 0, count: 32)),
      nonce: [UInt8](repeating: 0, count: 12))
    #expect(text(sealed) == "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919")
  }

  @Test(
    "What was sealed opens, and nothing that differs in a bit does",
    arguments: [AuthenticatedCipher.chaCha20Poly1305, .aes256GCM], [0, 1, 15, 16, 17, 300])
  func tampering(_ cipher: AuthenticatedCipher, _ count: Int) {
    let (key, nonce, data) = (SymmetricKey(size: 32), SecureRandom.bytes(12), [7, 8] as [UInt8])
    let message = SecureRandom.bytes(count)
    let sealed = cipher.seal(message, using: key, nonce: nonce, authenticating: data)
    #expect(sealed.count == count + 16)
    #expect(cipher.open(sealed, using: key, nonce: nonce, authenticating: data) == message)
    #expect(cipher.open(sealed, using: key, nonce: nonce) == nil)
    #expect(cipher.open(sealed, using: SymmetricKey(size: 32), nonce: nonce, authenticating: data) == nil)
    #expect(cipher.open(sealed.dropLast(), using: key, nonce: nonce, authenticating: data) == nil)
    #expect(cipher.open(sealed.prefix(15), using: key, nonce: nonce, authenticating: data) == nil)
    for index in sealed.indices {
      var other = sealed
      other[index] ^= 1
      #expect(cipher.open(other, using: key, nonce: nonce, authenticating: data) == nil)
    }
  }
}

@Suite struct X25519Tests {
  @Test("Keys and the shared secret are as RFC 7748, section 6.1, has them")
  func vector() throws {
    let bob = try #require(
      X25519.PrivateKey(bytes: hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")))
    #expect(text(bob.publicKey.bytes) == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    let alice = try #require(
      X25519.PublicKey(bytes: hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")))
    let shared = try #require(bob.sharedSecret(with: alice))
    #expect(
      text(shared.withUnsafeBytes { Array($0) }) == "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
  }

  @Test("A public key of small order leads to no secret")
  func smallOrder() throws {
    for start: UInt8 in [0, 1] {
      let key = try #require(X25519.PublicKey(bytes: [start] + [UInt8](repeating: 0, count: 31)))
      #expect(X25519.PrivateKey().sharedSecret(with: key) == nil)
    }
  }

  @Test("Both sides agree, and a key is 32 bytes")
  func agreement() {
    let (first, second) = (X25519.PrivateKey(), X25519.PrivateKey())
    #expect(first.sharedSecret(with: second.publicKey) == second.sharedSecret(with: first.publicKey))
    #expect(first.publicKey != second.publicKey)
    for count in [0, 31, 33] {
      #expect(X25519.PublicKey(bytes: [UInt8](repeating: 1, count: count)) == nil)
      #expect(X25519.PrivateKey(bytes: [UInt8](repeating: 1, count: count)) == nil)
    }
  }
}
