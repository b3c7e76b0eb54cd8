import Cryptography
import Foundation
import HealthModel

/// The body of `POST /api/v2/person`: whose record a client keeps, in values that say nothing without the key of the
/// pairing (`docs/protocol/person.md`).
///
///     {"person":{"d":"…","db":"…"}}
///
/// There is one value for the date of birth, and one for each combination of it with other traits that the client's
/// record tells, so that a server that knows fewer of them can compare those. A client that knows no date of birth
/// makes no claim.
public struct PersonClaim: Hashable, Sendable {
  /// The length of each value: HMAC-SHA256.
  public static let valueByteCount = 32

  /// Traits in a fixed order, named by one letter each: `d`, `ds`, `db` or `dsb`.
  public struct Combination: Hashable, Sendable {
    /// The member of the JSON object: `d` date of birth, `s` sex, `b` blood type.
    public let name: String
    /// Date of birth first, then sex, then blood type.
    public let traits: [Person.Trait]

    init(_ traits: [Person.Trait]) {
      self.traits = traits
      name = traits.map(Self.letter).joined()
    }

    private static func letter(_ trait: Person.Trait) -> String {
      switch trait {
      case .dateOfBirth: "d"
      case .biologicalSex: "s"
      case .bloodType: "b"
      }
    }

    /// Every one of these traits that has a date of birth among them; none where that is not.
    public static func all(of traits: some Collection<Person.Trait>) -> [Combination] {
      guard traits.contains(.dateOfBirth) else { return [] }
      var combinations: [[Person.Trait]] = [[.dateOfBirth]]
      for trait in [Person.Trait.biologicalSex, .bloodType] where traits.contains(trait) {
        combinations += combinations.map { $0 + [trait] }
      }
      return combinations.map(Combination.init)
    }
  }

  /// One value for each of ``Combination/all(of:)`` the traits that the client knows.
  public let values: [Combination: [UInt8]]

  /// `nil` unless there is a value of 32 bytes for each combination of some traits, and for nothing else.
  public init?(values: [Combination: [UInt8]]) {
    let known = Set(values.keys.flatMap(\.traits))
    guard !values.isEmpty, Set(Combination.all(of: known)) == Set(values.keys),
      values.values.allSatisfy({ $0.count == Self.valueByteCount })
    else { return nil }
    self.values = values
  }

  /// What the client and somebody who knows `traits` both know.
  public func combination(with traits: Set<Person.Trait>) -> Combination? {
    Combination.all(of: traits.intersection(values.keys.flatMap(\.traits))).last
  }

  /// SHA-256 of all of it: equal for equal claims only.
  public var digest: Data {
    let bytes = values.sorted { $0.key.name < $1.key.name }.flatMap { Array("\($0.key.name)=".utf8) + $0.value }
    return Data(SHA256.hash(data: bytes))
  }
}

extension PersonClaim: Codable {
  private enum Key: String, CodingKey { case person }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let texts = try container.decode([String: String].self, forKey: .person)
    let named = Dictionary(uniqueKeysWithValues: Combination.all(of: Person.Trait.allCases).map { ($0.name, $0) })
    var values: [Combination: [UInt8]] = [:]
    for (name, text) in texts {
      guard let combination = named[name], text.utf8.count == 43, let bytes = RadixCoding.base64URL.decode(text) else {
        throw DecodingError.dataCorruptedError(forKey: .person, in: container, debugDescription: "no value of a person")
      }
      values[combination] = bytes
    }
    guard let claim = PersonClaim(values: values) else {
      throw DecodingError.dataCorruptedError(forKey: .person, in: container, debugDescription: "no person")
    }
    self = claim
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    let texts = values.map { ($0.key.name, RadixCoding.base64URL.encode($0.value)) }
    try container.encode(Dictionary(uniqueKeysWithValues: texts), forKey: .person)
  }
}
