import Foundation

/// The person whose record this is, as far as HealthKit's characteristics identify them.
///
/// A characteristic that was never set is `nil` and does not contradict any value.
public struct Person: Hashable, Sendable {
  /// An identifying characteristic. The raw values are HealthKit's identifiers.
  public enum Trait: String, CaseIterable, Hashable, Sendable {
    /// The date of birth. It never changes: two dates mean two persons.
    case dateOfBirth = "HKCharacteristicTypeIdentifierDateOfBirth"
    /// The biological sex: `HKBiologicalSex` and the name of its case.
    case biologicalSex = "HKCharacteristicTypeIdentifierBiologicalSex"
    /// The blood type: `HKBloodType` and the name of its case.
    case bloodType = "HKCharacteristicTypeIdentifierBloodType"

    /// The type of the samples that report this trait, whose payload is a ``CharacteristicValue``.
    public var type: SampleType { SampleType(rawValue) }
  }

  private var values: [Trait: String] = [:]

  /// Creates a person without any traits, which contradicts no other person.
  public init() {}

  /// Creates a person from characteristics.
  ///
  /// - Parameter characteristics: values as Apple's export prints them, by HealthKit's identifier; others are
  ///   ignored.
  public init(characteristics: [String: String]) {
    for trait in Trait.allCases { self[trait] = characteristics[trait.rawValue] }
  }

  /// The value of a trait as Apple's export prints it: `1986-05-17`, `HKBiologicalSexFemale`, `HKBloodTypeONegative`.
  public subscript(trait: Trait) -> String? {
    get { values[trait] }
    set { values[trait] = newValue.flatMap { Self.told($0, trait) } }
  }

  /// Returns the traits that both persons have with different values, in a fixed order. The result is empty if they
  /// may be the same person.
  public func contradictions(to other: Person) -> [Trait] {
    Trait.allCases.filter { trait in
      guard let value = self[trait], let otherValue = other[trait] else { return false }
      return value != otherValue
    }
  }

  /// The four-digit year of birth, or `nil` if the date of birth does not begin with one.
  public var yearOfBirth: String? {
    guard let year = self[.dateOfBirth]?.prefix(4), year.utf8.count == 4, year.utf8.allSatisfy(Self.isDigit) else {
      return nil
    }
    return String(year)
  }

  /// Returns the normalized value, or `nil` for an empty text and for `HKBloodTypeNotSet`, which the Health app
  /// prints for a value that was never set.
  private static func told(_ text: String, _ trait: Trait) -> String? {
    let value = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if value.isEmpty || value.hasSuffix("NotSet") { return nil }
    // Other programs may print a time of day and a zone, which are not part of a birthday.
    if trait == .dateOfBirth, let day = day(value) { return day }
    return value
  }

  /// Returns the `yyyy-MM-dd` date at the beginning of a text.
  private static func day(_ text: String) -> String? {
    let head = String(text.prefix(10))
    return head.utf8.count == 10 && Timestamp(iso8601: head) != nil ? head : nil
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// Builds a person from characteristics that were read at different times. The newest value of each trait wins, and
/// among equally new ones the lexicographically greatest, so that the same samples give the same person everywhere.
public struct PersonReadings: Sendable {
  private var newest: [Person.Trait: (created: Timestamp?, value: String)] = [:]

  /// Creates an empty collection, whose ``person`` has no traits.
  public init() {}

  /// Adds a characteristic, in any order and any number of times. Other samples are ignored.
  public mutating func add(_ sample: Sample) {
    guard let trait = Person.Trait(rawValue: sample.type.rawValue), case .characteristic(let said) = sample.payload
    else {
      return
    }
    add(trait, said.value, created: sample.created)
  }

  /// Adds the value of a trait.
  ///
  /// - Parameter created: the time of the reading, or `nil` if unknown, which counts as older than any time.
  public mutating func add(_ trait: Person.Trait, _ value: String, created: Timestamp?) {
    if let known = newest[trait], !Self.isNewer((created, value), than: known) { return }
    newest[trait] = (created, value)
  }

  /// The person according to all readings so far.
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
