import HealthModel

/// The position up to which one phone's record has been read, stored in the same transaction as the samples.
struct HealthAppTransferPosition: PhonePosition {
  /// The state of one type.
  struct TypeState: PhoneTypeState {
    /// The number of rows that the store holds or refused, or `nil` before the first complete walk.
    var count: Int?
    /// The division of ``count`` into windows, newest first and without gaps, or `nil` if unknown.
    var windows: [PhoneWindow]?
    /// The time of the last check of the phone's number of rows, in seconds since 1970.
    var probed: Int64?
    /// The unfinished walk through all rows, if any.
    var walk: Walk?
    /// The time at which the last walk through all rows ended, in seconds since 1970.
    var swept: Int64?
    /// The second in which the oldest row of that walk starts.
    var oldest: Int64?
    /// The number of rows of that walk that could not be decoded.
    var unreadable = 0
    /// Whether the phone's count differs from this machine's for an unknown reason, usually a deletion on the phone.
    var isDoubtful = false
    /// The number of consecutive walks through all rows that ended in doubt, or `nil` for none. The numbers may never
    /// agree, because unreadable rows are counted twice where pages overlap.
    var doubts: Int?
    /// The offsets among the newest rows at which the app could not send a row in the last read, ascending, or `nil`
    /// for none.
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

  /// The point at which a walk through all rows continues.
  struct Walk: Codable, Equatable {
    /// The offset of the row before the first row of the second to be read again, or of the last row of ``second`` if
    /// that second is complete.
    var offset = 0
    /// The second of the last row that was read, or `nil` at the beginning.
    var second: Int64?
    /// Whether all of ``second`` has been read and counted; `nil` means false.
    var isWhole: Bool?
    /// The number of rows read and counted: those that start after ``second``, and those in it if it is complete.
    var rows = 0
    var unreadable = 0
    /// The division of ``rows`` into windows, or `nil` if unknown.
    var windows: [PhoneWindow]? = []
    /// Whether the walk is known to be incomplete because fewer rows of one second arrived than exist.
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
  /// The state of each type, keyed by the app's name.
  var types: [String: TypeState] = [:]
  /// The names of listed types that hpeer does not request.
  var unknown: [String] = []
  /// Whether the phone's last list of types was empty.
  var listsNothing = false
  /// The samples that may have been deleted on the phone.
  var absences: DeletionInference?
  /// The reasons why types could not be read in the last pull, or `nil` if all could.
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
