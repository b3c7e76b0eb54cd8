import HealthModel

/// What a caller asks for: `types`, `from`, `to` and `deep` in the query of `GET /api/v2/digest`.
public struct DigestSelection: Hashable, Sendable {
  /// `nil` for all; never empty.
  public var types: Set<SampleType>?
  /// `nil` for all.
  public var months: ClosedRange<CalendarMonth>?
  /// Whether to cover what the samples say.
  public var isDeep: Bool

  /// Each is `nil` where there is no such field.
  ///
  /// - Parameters:
  ///   - types: as in ``ChangeSelection``.
  ///   - from: the first month, `2024-06`; `to` the last.
  ///   - deep: `1` or `0`.
  public init(
    types: Substring?, from: Substring?, to: Substring?, deep: Substring?
  ) throws(DigestSelectionError) {
    do throws(ChangeSelectionError) {
      self.types = try ChangeSelection(types: types, limit: nil).types
    } catch {
      throw .types(error)
    }
    let first = try Self.month(from, "from")
    let last = try Self.month(to, "to")
    if first != nil || last != nil {
      let lower = first ?? CalendarMonth(containing: Timestamp(microseconds: .min))
      let upper = last ?? CalendarMonth(containing: Timestamp(microseconds: .max))
      guard lower <= upper else { throw .emptyRange }
      months = lower...upper
    }
    switch deep {
    case nil, "0": isDeep = false
    case "1": isDeep = true
    default: throw .badFlag
    }
  }

  private static func month(_ text: Substring?, _ name: String) throws(DigestSelectionError) -> CalendarMonth? {
    guard let text else { return nil }
    guard let month = CalendarMonth(String(text)) else { throw .badMonth(name) }
    return month
  }
}

/// Why a selection cannot be understood.
public enum DigestSelectionError: Error, Hashable, Sendable {
  case types(ChangeSelectionError)
  /// The field of this name.
  case badMonth(String)
  case emptyRange
  case badFlag
}

extension DigestSelectionError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .types(let error): error.description
    case .badMonth(let name): "'\(name)' is not a month such as 2024-06"
    case .emptyRange: "'from' is after 'to'"
    case .badFlag: "'deep' is neither 1 nor 0"
    }
  }
}
