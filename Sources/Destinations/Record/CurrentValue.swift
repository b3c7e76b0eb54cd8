import HealthModel

/// The current value of a type: a daily total if it adds up, the last night for sleep, otherwise the newest sample.
public struct CurrentValue: Hashable, Sendable {
  /// A number or a text.
  public enum Content: Hashable, Sendable {
    /// A finite number.
    case number(Double)
    /// The name of a category value or a workout activity.
    case text(String)
  }

  /// The type of the value.
  public var type: SampleType
  /// The value to show.
  public var content: Content
  /// The unit in HealthKit's notation, in which a percentage is from 0 to 1; `nil` for texts.
  public var unit: String?
  /// The start of the sample, day or night.
  public var start: Timestamp
  /// The end of the sample, day or night; the end of a day is not included.
  public var end: Timestamp
  /// The name of the source that contributes most; `nil` if there is none or names are withheld.
  public var source: String?
  /// Additional numbers by name, such as hours of sleep by stage.
  public var details: [String: Double] = [:]

  /// The number in ``content``, or `nil` for a text.
  public var number: Double? {
    if case .number(let number) = content { return number }
    return nil
  }
}
