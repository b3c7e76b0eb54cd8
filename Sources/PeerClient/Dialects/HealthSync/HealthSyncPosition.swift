import HealthModel

/// How far one phone's record has been read: kept with what came, in one transaction.
struct HealthSyncPosition: PhonePosition {
  /// One type.
  struct TypeState: PhoneTypeState {
    /// Newest first, without gaps: the first begins at ``PhoneWindow/from`` and has no end.
    var windows: [PhoneWindow] = []
    /// Where a walk through all time goes on; `nil` where none is under way.
    var walk: Walk?
    /// When the last such walk ended, in seconds since 1970.
    var swept: Int64?
    /// When what is older than the newest window was counted last.
    var counted: Int64?
    /// Where the last window begins that a count under way has come to; `nil` where none is.
    var counting: Int64?
    var oldest: Int64?
    var unreadable = 0
    /// Whether the phone has fewer than it had: a deletion there, as a rule.
    var isDoubtful = false

    enum CodingKeys: String, CodingKey {
      case windows = "w"
      case walk = "k"
      case swept = "s"
      case counted = "c"
      case counting = "g"
      case oldest = "o"
      case unreadable = "u"
      case isDoubtful = "d"
    }

    var rows: Int { windows.reduce(0) { $0 + $1.rows } }
    var samples: Int? { swept == nil ? nil : rows }
    var isUnderWay: Bool { walk != nil }
  }

  /// A walk backwards through all time.
  struct Walk: Codable, Equatable {
    /// The second before which it goes on.
    var end: Int64
    /// What it has found so far.
    var windows: [PhoneWindow] = []
    var unreadable = 0

    enum CodingKeys: String, CodingKey {
      case end = "e"
      case windows = "w"
      case unreadable = "u"
    }
  }

  private(set) var version = 1
  /// By the app's names.
  var types: [String: TypeState] = [:]
  /// What the phone offers and is not asked for.
  var unknown: [String] = []
  /// Whether this version of the app has routes of workouts; `nil` before it has said so.
  var hasRoutes: Bool?
  /// What may have been deleted there.
  var absences: Absences?
  /// Why a type could not be read the last time; `nil` where all could.
  var problems: [String: String]?

  enum CodingKeys: String, CodingKey {
    case version = "v"
    case types = "t"
    case unknown = "x"
    // Not "r": what was kept under that may be any refusal.
    case hasRoutes = "q"
    case absences = "a"
    case problems = "p"
  }

  init() {}

  var listsNothing: Bool { !types.isEmpty && types.values.allSatisfy { $0.walk == nil && $0.rows == 0 } }

  static func type(named name: String) -> SampleType? { HealthSyncRequest.AppType(name)?.type }
}
