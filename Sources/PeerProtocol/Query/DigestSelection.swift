import HealthModel

/// What a caller asks for: `types`, `from`, `to` and `deep` in the query of `GET /api/v2/digest`.
public struct DigestSelection: Hashable, Sendable {
  public var filter: SampleFilter
  /// `nil` for all.
  public var months: ClosedRange<CalendarMonth>?
  /// Whether to cover what the samples say.
  public var isDeep: Bool

  /// Each as ``QueryField`` has it.
  public init(types: Substring?, from: Substring?, to: Substring?, deep: Substring?) throws(QueryFieldError) {
    filter = SampleFilter(types: try QueryField.types(types))
    months = try QueryField.months(from: from, to: to)
    isDeep = try QueryField.flag(deep, "deep")
  }
}
