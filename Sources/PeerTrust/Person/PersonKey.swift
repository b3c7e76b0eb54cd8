import Cryptography
import Foundation
import HealthModel
import PeerProtocol

/// A key with which two paired machines compare their persons without sending personal data: an HMAC key that only
/// these two have.
///
/// The key is derived from the SHA-256 of the pairing's token, which both sides keep, so values of one pairing mean
/// nothing in another. Both machines hold the key, so both could try all birthdays in a moment; no third machine can.
/// `docs/protocol/person.md` specifies it byte for byte.
public struct PersonKey: Sendable {
  private let key: SymmetricKey

  /// Creates the key of the pairing that issued this token, on the server's side.
  public init(_ token: TokenHash) {
    key = HKDF.deriveKey(
      inputKeyMaterial: SymmetricKey(data: token.bytes), salt: [], info: Array("hpeer-person/1".utf8),
      outputByteCount: 32)
  }

  /// Creates the key from the client's credential; `nil` if it is not an hpeer token.
  public init?(_ credential: BearerCredential) {
    guard let token = BearerToken(text: credential.text) else { return nil }
    self.init(token.hash)
  }

  /// Returns the claim that a client sends for a person; `nil` for a person without a date of birth.
  public func claim(of person: Person) -> PersonClaim? {
    let told = Person.Trait.allCases.filter { person[$0] != nil }
    let combinations = PersonClaim.Combination.all(of: told)
    return PersonClaim(
      values: Dictionary(uniqueKeysWithValues: combinations.map { ($0, value(of: person, $0.traits)) }))
  }

  /// Returns a server's verdict on a claim. Takes the same time whether or not the persons are the same.
  public func compare(_ claim: PersonClaim, with person: Person) -> PersonAnswer.Verdict {
    let told = Set(Person.Trait.allCases.filter { person[$0] != nil })
    guard let combination = claim.combination(with: told), let claimed = claim.values[combination] else {
      return .unknown
    }
    return ConstantTime.equal(claimed, value(of: person, combination.traits)) ? .same : .different
  }

  private func value(of person: Person, _ traits: [Person.Trait]) -> [UInt8] {
    HMAC.authenticationCode(for: person.canonicalBytes(traits), using: key)
  }
}

/// An identifier for a server's person that is specific to one client, so that the client notices a change of person;
/// see ``PersonAnswer/mark``.
public struct PersonMark: Sendable {
  /// The mark: 22 characters of base64url, 128 bits.
  public let text: String

  /// Creates the mark of a person.
  ///
  /// - Parameters:
  ///   - secret: the server's own secret, so that a client cannot try birthdays.
  ///   - token: the client's token hash, so that two clients cannot compare their marks.
  public init(of person: Person, secret: Data, token: TokenHash) {
    let key = HKDF.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), salt: token.bytes, info: Array("hpeer-person-mark/1".utf8),
      outputByteCount: 32)
    let code = HMAC.authenticationCode(for: person.canonicalBytes(Person.Trait.allCases), using: key)
    text = RadixCoding.base64URL.encode(Data(code.prefix(16)))
  }

  /// Returns whether the mark equals a text, in constant time.
  public func isEqual(to text: String) -> Bool {
    ConstantTime.equal(Array(self.text.utf8), Array(text.utf8))
  }
}

extension Person {
  /// Returns the canonical encoding of some traits, in the order of the list: for each, the byte count as four bytes,
  /// big-endian, then the UTF-8. A missing trait has zero bytes.
  fileprivate func canonicalBytes(_ traits: [Trait]) -> [UInt8] {
    traits.flatMap { trait in
      let text = Array((self[trait] ?? "").utf8)
      return withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.count).bigEndian) { Array($0) } + text
    }
  }
}
