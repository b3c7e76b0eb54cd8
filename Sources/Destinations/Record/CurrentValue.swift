import HealthModel

/// What a record says of one type now: a day's total of what adds up, the last night of sleep, else the newest sample.
public struct CurrentValue: Hashable, Sendable {
  /// A number or a text.
  public enum Content: Hashable, Sendable {
    /// Finite.
    case number(Double)
    /// What a category or a workout is called.
    case text(String)
  }

  /// What it is of.
  public var type: SampleType
  /// What is shown of it.
  public var content: Content
  /// HealthKit's, in which a percentage is from 0 to 1; `nil` where there is none.
  public var unit: String?
  /// When what it says began.
  public var start: Timestamp
  /// Not included where it is a day's.
  public var end: Timestamp
  /// The name of the source that counts most; `nil` where none does, or names are not told.
  public var source: String?
  /// Parts of it, such as hours of sleep by stage.
  public var details: [String: Double] = [:]

  /// ``content``, where it is a number.
  public var number: Double? {
    if case .number(let number) = content { return number }
    return nil
  }
}
