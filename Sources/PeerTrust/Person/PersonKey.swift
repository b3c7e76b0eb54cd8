import Cryptography
import Foundation
import HealthModel
import PeerProtocol

/// Compares the persons of two paired machines without sending what they are: HMAC under a key that only these two
/// have.
///
/// The key is derived from the SHA-256 of the pairing's token, which is what both sides keep of it, so that values of
/// one pairing mean nothing in another. Whoever has the key can try all birthdays there are in a moment: both machines
/// can, and nobody else. `docs/protocol/person.md` has it byte for byte.
public struct PersonKey: Sendable {
  private let key: SymmetricKey

  /// The key of the pairing that gave out this token: what a server makes it of.
  public init(_ token: TokenHash) {
    key = HKDF.deriveKey(
      inputKeyMaterial: SymmetricKey(data: token.bytes), salt: [], info: Array("hpeer-person/1".utf8),
      outputByteCount: 32)
  }

  /// `nil` for a credential that is no token of hpeer's.
  public init?(_ credential: BearerCredential) {
    guard let token = BearerToken(text: credential.text) else { return nil }
    self.init(token.hash)
  }

  /// What a client sends of a person; `nil` for one without a date of birth.
  public func claim(of person: Person) -> PersonClaim? {
    let told = Person.Trait.allCases.filter { person[$0] != nil }
    let combinations = PersonClaim.Combination.all(of: told)
    return PersonClaim(
      values: Dictionary(uniqueKeysWithValues: combinations.map { ($0, value(of: person, $0.traits)) }))
  }

  /// What a server makes of a claim. Takes the same time whether or not the persons are the same.
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

/// Names a server's person to one client, so that a change of it is noticed; see ``PersonAnswer/mark``.
public struct PersonMark: Sendable {
  /// 22 characters of base64url: 128 bits.
  public let text: String

  /// - Parameters:
  ///   - secret: the server's own, so that a client cannot try birthdays.
  ///   - token: of the client, so that two of them cannot compare what they were told.
  public init(of person: Person, secret: Data, token: TokenHash) {
    let key = HKDF.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), salt: token.bytes, info: Array("hpeer-person-mark/1".utf8),
      outputByteCount: 32)
    let code = HMAC.authenticationCode(for: person.canonicalBytes(Person.Trait.allCases), using: key)
    text = RadixCoding.base64URL.encode(Data(code.prefix(16)))
  }

  /// In a time that does not depend on where they differ.
  public func isEqual(to text: String) -> Bool {
    ConstantTime.equal(Array(self.text.utf8), Array(text.utf8))
  }
}

extension Person {
  /// Of each trait, in the order of the list: the number of bytes as four bytes, big-endian, and the UTF-8. What is not
  /// told has no bytes.
  fileprivate func canonicalBytes(_ traits: [Trait]) -> [UInt8] {
    traits.flatMap { trait in
      let text = Array((self[trait] ?? "").utf8)
      return withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.count).bigEndian) { Array($0) } + text
    }
  }
}
