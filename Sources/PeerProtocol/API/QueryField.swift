import HealthModel

/// The fields that queries select by, each read in one way whichever route has it. A field that is absent is `nil`.
///
/// ```swift
/// let filter = SampleFilter(types: try QueryField.types("heartRate,stepCount"))
/// let months = try QueryField.months(from: "2024-01", to: nil)
/// ```
public enum QueryField {
  /// Short names in any case or HealthKit identifiers, separated by commas; never empty.
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

  /// Maximum sources that one query may name, and bytes of all their names.
  private static let maximumSources = (count: 64, bytes: 4096)

  /// The names of sources, each in a field of its own, because a name may have commas; `nil` without any.
  public static func sources(_ texts: [String]) throws(QueryFieldError) -> Set<String>? {
    if texts.isEmpty { return nil }
    guard texts.count <= maximumSources.count,
      texts.reduce(0, { $0 + $1.utf8.count }) <= maximumSources.bytes
    else { throw .tooManySources }
    return Set(texts)
  }

  /// About how many changes end an answer: a positive number; `Int.max` where nothing is asked.
  public static func limit(_ text: Substring?) throws(QueryFieldError) -> Int {
    guard let text else { return .max }
    guard let number = Int(text), number > 0 else { throw .badLimit }
    return number
  }

  /// The first month, `2024-06`, and the last.
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

  /// `1` or `0`, which is also what an absent one says.
  public static func flag(_ text: Substring?, _ name: String) throws(QueryFieldError) -> Bool {
    switch text {
    case nil, "0": false
    case "1": true
    default: throw .badFlag(name)
    }
  }
}

/// Why a field of a query cannot be understood.
public enum QueryFieldError: Error, Hashable, Sendable {
  /// `types` holds a name that is neither a short name nor an identifier.
  case unknownType
  /// `types` is there and names none.
  case noTypes
  /// `source` comes too often, or says too much.
  case tooManySources
  /// `limit` is no positive number.
  case badLimit
  /// The field of this name is not a month.
  case badMonth(String)
  /// `from` is after `to`.
  case emptyRange
  /// The field of this name is neither `1` nor `0`.
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
