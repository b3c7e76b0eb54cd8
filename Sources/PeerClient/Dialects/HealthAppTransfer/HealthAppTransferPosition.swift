import HealthModel

/// How far one phone's record has been read: kept with what came, in one transaction.
struct HealthAppTransferPosition: PhonePosition {
  /// One type.
  struct TypeState: PhoneTypeState {
    /// Rows that are here or refused here, as they are counted; `nil` before the first walk has come to the end.
    var count: Int?
    /// A walk through all rows that has not come to the end.
    var walk: Walk?
    /// When the last walk through all rows ended, in seconds since 1970.
    var swept: Int64?
    /// The second in which the oldest row of that walk starts.
    var oldest: Int64?
    /// Rows of that walk that could not be understood.
    var unreadable = 0
    /// Whether the phone's count is another than ours for what is unknown: a deletion there, as a rule.
    var isDoubtful = false

    var samples: Int? { count }
    var isUnderWay: Bool { walk != nil }

    enum CodingKeys: String, CodingKey {
      case count = "n"
      case walk = "w"
      case swept = "s"
      case oldest = "o"
      case unreadable = "u"
      case isDoubtful = "d"
    }
  }

  /// Where a walk through all rows goes on.
  struct Walk: Codable, Equatable {
    /// The row before the first of the second that is to be read again.
    var offset = 0
    /// The second of the last row that was read; `nil` at the beginning.
    var second: Int64?
    /// Rows that start after ``second``.
    var rows = 0
    var unreadable = 0
    /// Whether a page was filled by one second, so that its order tells nothing.
    var isTied = false

    enum CodingKeys: String, CodingKey {
      case offset = "o"
      case second = "s"
      case rows = "r"
      case unreadable = "u"
      case isTied = "t"
    }
  }

  private(set) var version = 1
  /// By the app's names.
  var types: [String: TypeState] = [:]
  /// What the phone listed and is not asked for.
  var unknown: [String] = []
  /// Whether it listed nothing the last time.
  var listsNothing = false
  /// What may have been deleted there.
  var absences: Absences?

  enum CodingKeys: String, CodingKey {
    case version = "v"
    case types = "t"
    case unknown = "x"
    case listsNothing = "e"
    case absences = "a"
  }

  init() {}

  static func type(named name: String) -> SampleType? { HealthAppTransferRequest.AppType(name)?.type }
}
