/// The activity of a workout: HealthKit's integer (`HKWorkoutActivityType`) or, if it is not in the table, Apple's
/// name.
public enum WorkoutActivityType: Hashable, Sendable {
  /// The raw value of `HKWorkoutActivityType`, with or without a known name: 37 is running.
  case value(UInt)
  /// The name in Apple's export, if its integer is unknown.
  case name(String)

  /// Reads an exported name (`HKWorkoutActivityTypeRunning`).
  public init(exported name: String) {
    self = Self.values[name].map(Self.value) ?? .name(name)
  }

  /// The text in an export: `HKWorkoutActivityTypeRunning`, or the integer if it has no known name.
  public var exported: String {
    switch self {
    case .value(let value): Self.names[value] ?? String(value)
    case .name(let name): name
    }
  }

  /// The name for people: `Traditional Strength Training` for `HKWorkoutActivityTypeTraditionalStrengthTraining`.
  public var displayName: String {
    let prefix = "HKWorkoutActivityType"
    let name = exported.hasPrefix(prefix) ? exported.dropFirst(prefix.count) : exported[...]
    return name.reduce(into: "") { words, letter in
      if letter.isUppercase, words.last?.isLowercase == true { words.append(" ") }
      words.append(letter)
    }
  }

  private static let names: [UInt: String] = Dictionary(
    uniqueKeysWithValues: String(decoding: PackageResources.workout_activity_types_tsv, as: UTF8.self)
      .split(whereSeparator: \.isNewline).dropFirst().compactMap { line in
        let fields = line.split(separator: "\t")
        guard fields.count == 2, let value = UInt(fields[0]) else { return nil }
        return (value, String(fields[1]))
      })

  private static let values: [String: UInt] = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })
}

/// Encoded in JSON as an integer, or as the name if the integer is unknown.
extension WorkoutActivityType: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(UInt.self) {
      self = .value(value)
    } else {
      self = .name(try container.decode(String.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .value(let value): try container.encode(value)
    case .name(let name): try container.encode(name)
    }
  }
}
