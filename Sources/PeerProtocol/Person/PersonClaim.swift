import Cryptography
import Foundation
import HealthModel

/// The body of `POST /api/v2/person`: the traits of the person whose record a client keeps, as values that are
/// meaningless without the key of the pairing (`docs/protocol/person.md`).
///
///     {"person":{"d":"…","db":"…"}}
///
/// The claim has one value for the date of birth, and one for each combination of it with the other known traits, so
/// that a server that knows fewer traits can compare those. A client that does not know the date of birth makes no
/// claim.
public struct PersonClaim: Hashable, Sendable {
  /// The length of each value, an HMAC-SHA256, in bytes.
  public static let valueByteCount = 32

  /// A set of traits in a fixed order, named by one letter each: `d`, `ds`, `db` or `dsb`.
  public struct Combination: Hashable, Sendable {
    /// The name of the JSON member: `d` for date of birth, `s` for sex, `b` for blood type.
    public let name: String
    /// The traits in the order date of birth, sex, blood type.
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

    /// Returns every combination of these traits that includes the date of birth. The result is empty without it.
    public static func all(of traits: some Collection<Person.Trait>) -> [Combination] {
      guard traits.contains(.dateOfBirth) else { return [] }
      var combinations: [[Person.Trait]] = [[.dateOfBirth]]
      for trait in [Person.Trait.biologicalSex, .bloodType] where traits.contains(trait) {
        combinations += combinations.map { $0 + [trait] }
      }
      return combinations.map(Combination.init)
    }
  }

  /// The value of each ``Combination`` of the traits that the client knows.
  public let values: [Combination: [UInt8]]

  /// Creates a claim, or returns `nil` unless the values are exactly those of all combinations of some traits, 32
  /// bytes each.
  public init?(values: [Combination: [UInt8]]) {
    let known = Set(values.keys.flatMap(\.traits))
    guard !values.isEmpty, Set(Combination.all(of: known)) == Set(values.keys),
      values.values.allSatisfy({ $0.count == Self.valueByteCount })
    else { return nil }
    self.values = values
  }

  /// Returns the largest combination of traits known both to the client and to a server that knows `traits`.
  public func combination(with traits: Set<Person.Trait>) -> Combination? {
    Combination.all(of: traits.intersection(values.keys.flatMap(\.traits))).last
  }

  /// The SHA-256 of the claim; only equal claims have equal digests.
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
