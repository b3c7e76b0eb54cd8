import Foundation

/// Whose record it is, as far as the record says: those of HealthKit's characteristics that tell one person from
/// another.
///
/// A value that was never told is `nil`, and says nothing.
public struct Person: Hashable, Sendable {
  /// What a person may have told; the raw values are HealthKit's identifiers.
  public enum Trait: String, CaseIterable, Hashable, Sendable {
    /// Once told, it does not change: two dates are two persons.
    case dateOfBirth = "HKCharacteristicTypeIdentifierDateOfBirth"
    /// `HKBiologicalSex` and the name of its case.
    case biologicalSex = "HKCharacteristicTypeIdentifierBiologicalSex"
    /// `HKBloodType` and the name of its case.
    case bloodType = "HKCharacteristicTypeIdentifierBloodType"

    /// The type of the samples that tell it, whose payload is a ``CharacteristicValue``.
    public var type: SampleType { SampleType(rawValue) }
  }

  private var values: [Trait: String] = [:]

  /// Without any trait; ``contradictions(to:)`` of it is empty for every person.
  public init() {}

  /// - Parameter characteristics: values as Apple's export prints them, by HealthKit's identifier; others are passed
  ///   over.
  public init(characteristics: [String: String]) {
    for trait in Trait.allCases { self[trait] = characteristics[trait.rawValue] }
  }

  /// The value as Apple's export prints it: `1986-05-17`, `HKBiologicalSexFemale`, `HKBloodTypeONegative`.
  public subscript(trait: Trait) -> String? {
    get { values[trait] }
    set { values[trait] = newValue.flatMap { Self.told($0, trait) } }
  }

  /// What both say, and not the same, in a fixed order. Empty where it may be one person.
  public func contradictions(to other: Person) -> [Trait] {
    Trait.allCases.filter { trait in
      guard let value = self[trait], let otherValue = other[trait] else { return false }
      return value != otherValue
    }
  }

  /// Four digits, of a date of birth that begins with them.
  public var yearOfBirth: String? {
    guard let year = self[.dateOfBirth]?.prefix(4), year.utf8.count == 4, year.utf8.allSatisfy(Self.isDigit) else {
      return nil
    }
    return String(year)
  }

  /// `nil` for an empty text and for `HKBloodTypeNotSet`, which the Health app prints for what was never told.
  private static func told(_ text: String, _ trait: Trait) -> String? {
    let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if value.isEmpty || value.hasSuffix("NotSet") { return nil }
    // A time of day and a zone, as other programs may print, are no part of a birthday.
    if trait == .dateOfBirth, let day = day(value) { return day }
    return value
  }

  /// The `yyyy-MM-dd` that a text begins with.
  private static func day(_ text: String) -> String? {
    let head = String(text.prefix(10))
    return head.utf8.count == 10 && Timestamp(iso8601: head) != nil ? head : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// Puts a person together out of characteristics that were read at different times: of each trait the newest counts,
/// and of equally new ones the one whose text is the greatest, so that the same samples make the same person
/// everywhere.
public struct PersonReadings: Sendable {
  private var newest: [Person.Trait: (created: Timestamp?, value: String)] = [:]

  /// No readings: nothing is known of ``person`` yet.
  public init() {}

  /// Takes a characteristic into account, in any order and however often; all other samples are passed over.
  public mutating func add(_ sample: Sample) {
    guard let trait = Person.Trait(rawValue: sample.type.rawValue), case .characteristic(let said) = sample.payload
    else {
      return
    }
    add(trait, said.value, created: sample.created)
  }

  /// - Parameter created: when it was read; `nil`, not known, is before all others.
  public mutating func add(_ trait: Person.Trait, _ value: String, created: Timestamp?) {
    if let known = newest[trait], !Self.isNewer((created, value), than: known) { return }
    newest[trait] = (created, value)
  }

  /// What has been read up to now.
  public var person: Person {
    Person(characteristics: Dictionary(uniqueKeysWithValues: newest.map { ($0.key.rawValue, $0.value.value) }))
  }

  private static func isNewer(
    _ reading: (created: Timestamp?, value: String), than other: (created: Timestamp?, value: String)
  ) -> Bool {
    let (created, known) = (reading.created?.microseconds ?? .min, other.created?.microseconds ?? .min)
    if created != known { return created > known }
    return other.value.utf8.lexicographicallyPrecedes(reading.value.utf8)
  }
}
