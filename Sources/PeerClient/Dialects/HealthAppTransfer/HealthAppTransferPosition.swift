import HealthModel

/// How far one phone's record has been read: kept with what came, in one transaction.
struct HealthAppTransferPosition: PhonePosition {
  /// One type.
  struct TypeState: PhoneTypeState {
    /// Rows that are here or refused here, as they are counted; `nil` before the first walk has come to the end.
    var count: Int?
    /// What ``count`` is made of, newest first and without gaps; `nil` where that is not known.
    var windows: [PhoneWindow]?
    /// When the phone was asked last whether it has as many, in seconds since 1970.
    var probed: Int64?
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
    /// How many walks through all rows in a row have ended so; `nil` for none. Rows that cannot be read are counted twice
    /// where pages overlap, so that the numbers may never agree.
    var doubts: Int?
    /// Where among the newest rows, at the last look, there were such that the app cannot send, ascending; `nil` for none.
    var unsendable: [Int]?

    var samples: Int? { count }
    var isUnderWay: Bool { walk != nil }

    enum CodingKeys: String, CodingKey {
      case windows = "b"
      case probed = "p"
      case count = "n"
      case walk = "w"
      case swept = "s"
      case oldest = "o"
      case unreadable = "u"
      case isDoubtful = "d"
      case doubts = "e"
      case unsendable = "q"
    }
  }

  /// Where a walk through all rows goes on.
  struct Walk: Codable, Equatable {
    /// The row before the first of the second that is to be read again; or the last of ``second``, where that is whole.
    var offset = 0
    /// The second of the last row that was read; `nil` at the beginning.
    var second: Int64?
    /// Whether all of ``second`` has been read and counted; `nil` for no.
    var isWhole: Bool?
    /// Rows that have been read and counted: those that start after ``second``, and in it where it is whole.
    var rows = 0
    var unreadable = 0
    /// What ``rows`` is made of; `nil` where that is not known.
    var windows: [PhoneWindow]? = []
    /// Whether what was read cannot be all: of one second more was there than came.
    var isShort: Bool?

    enum CodingKeys: String, CodingKey {
      case offset = "o"
      case second = "s"
      case isWhole = "f"
      case rows = "r"
      case unreadable = "u"
      case windows = "b"
      case isShort = "h"
    }

    /// The newest second that has not been counted yet.
    var newest: Int64 {
      guard let second else { return .max }
      return isWhole == true ? second - 1 : second
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
  /// Why a type could not be read the last time; `nil` where all could.
  var problems: [String: String]?

  enum CodingKeys: String, CodingKey {
    case version = "v"
    case types = "t"
    case unknown = "x"
    case listsNothing = "e"
    case absences = "a"
    case problems = "p"
  }

  init() {}

  static func type(named name: String) -> SampleType? { HealthAppTransferRequest.AppType(name)?.type }
}
