import HealthModel

/// Parsers of the query fields that select samples, shared by all routes. An absent field yields `nil` or its
/// default.
///
/// ```swift
/// let filter = SampleFilter(types: try QueryField.types("heartRate,stepCount"))
/// let months = try QueryField.months(from: "2024-01", to: nil)
/// ```
public enum QueryField {
  /// Parses a comma-separated list of HealthKit identifiers or short names in any case. The result is never empty.
  public static func types(_ text: Substring?) throws(QueryFieldError) -> Set<SampleType>? {
    guard let text else { return nil }
    var types: Set<SampleType> = []
    for name in text.parts(separatedBy: ",") {
      guard let type = SampleTypeCatalogue.healthKit.type(named: String(name)) else { throw .unknownType }
      types.insert(type)
    }
    guard !types.isEmpty else { throw .noTypes }
    return types
  }

  /// The maximum number of sources in one query, and the maximum total bytes of their names.
  private static let maximumSources = (count: 64, bytes: 4096)

  /// Checks the names of sources and returns them as a set, or `nil` if there are none. Each name has a field of its
  /// own because a name may contain commas.
  public static func sources(_ texts: [String]) throws(QueryFieldError) -> Set<String>? {
    if texts.isEmpty { return nil }
    guard texts.count <= maximumSources.count,
      texts.reduce(0, { $0 + $1.utf8.count }) <= maximumSources.bytes
    else { throw .tooManySources }
    return Set(texts)
  }

  /// Parses the approximate number of changes after which an answer ends: a positive number, or `Int.max` if absent.
  public static func limit(_ text: Substring?) throws(QueryFieldError) -> Int {
    guard let text else { return .max }
    guard let number = Int(text), number > 0 else { throw .badLimit }
    return number
  }

  /// Parses the first and last month, such as `2024-06`.
  public static func months(
    from: Substring?, to: Substring?
  ) throws(QueryFieldError) -> ClosedRange<CalendarMonth>? {
    let (first, last) = (try month(from, "from"), try month(to, "to"))
    guard first != nil || last != nil else { return nil }
    let lower = first ?? CalendarMonth(containing: Timestamp(microseconds: .min))
    let upper = last ?? CalendarMonth(containing: Timestamp(microseconds: .max))
    guard lower <= upper else { throw .emptyRange }
    return lower...upper
  }

  private static func month(_ text: Substring?, _ name: String) throws(QueryFieldError) -> CalendarMonth? {
    guard let text else { return nil }
    guard let month = CalendarMonth(String(text)) else { throw .badMonth(name) }
    return month
  }

  /// Parses a flag: `1` is true; `0` or an absent field is false.
  public static func flag(_ text: Substring?, _ name: String) throws(QueryFieldError) -> Bool {
    switch text {
    case nil, "0": false
    case "1": true
    default: throw .badFlag(name)
    }
  }
}

/// A reason why a query field cannot be parsed.
public enum QueryFieldError: Error, Hashable, Sendable {
  /// A name in `types` is neither a short name nor a HealthKit identifier.
  case unknownType
  /// The field `types` is present but names no type.
  case noTypes
  /// The `source` fields are too many or too long.
  case tooManySources
  /// The field `limit` is not a positive number.
  case badLimit
  /// The named field is not a month.
  case badMonth(String)
  /// The month `from` is after `to`.
  case emptyRange
  /// The named field is neither `1` nor `0`.
  case badFlag(String)
}

extension QueryFieldError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unknownType: "'types' names a type that does not exist"
    case .noTypes: "'types' is empty"
    case .tooManySources: "'source' names too many sources"
    case .badLimit: "'limit' is not a positive number"
    case .badMonth(let name): "'\(name)' is not a month such as 2024-06"
    case .emptyRange: "'from' is after 'to'"
    case .badFlag(let name): "'\(name)' is neither 1 nor 0"
    }
  }
}
