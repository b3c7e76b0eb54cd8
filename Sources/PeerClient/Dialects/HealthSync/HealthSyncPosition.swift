import HealthModel

/// The position up to which one phone's record has been read, stored in the same transaction as the samples.
struct HealthSyncPosition: PhonePosition {
  /// The state of one type.
  struct TypeState: PhoneTypeState {
    /// The windows, newest first and without gaps. The first begins at ``PhoneWindow/from`` and has no end.
    var windows: [PhoneWindow] = []
    /// The point at which a walk through all time continues, or `nil` if none is in progress.
    var walk: Walk?
    /// The time at which the last such walk ended, in seconds since 1970.
    var swept: Int64?
    /// The time at which samples older than the newest window were last counted.
    var counted: Int64?
    /// The beginning of the last window counted by a count in progress, or `nil` if none is in progress.
    var counting: Int64?
    var oldest: Int64?
    var unreadable = 0
    /// Whether the phone has fewer samples than before, usually because of a deletion there.
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

  /// A backward walk through all time.
  struct Walk: Codable, Equatable {
    /// The second before which the walk continues.
    var end: Int64
    /// The windows found so far.
    var windows: [PhoneWindow] = []
    var unreadable = 0

    enum CodingKeys: String, CodingKey {
      case end = "e"
      case windows = "w"
      case unreadable = "u"
    }
  }

  private(set) var version = 1
  /// The state of each type, keyed by the app's name.
  var types: [String: TypeState] = [:]
  /// The names of shared types that hpeer does not request.
  var unknown: [String] = []
  /// Whether this version of the app has workout routes; `nil` while unknown.
  var hasRoutes: Bool?
  /// The samples that may have been deleted on the phone.
  var absences: DeletionInference?
  /// The reasons why types could not be read in the last pull, or `nil` if all could.
  var problems: [String: String]?

  enum CodingKeys: String, CodingKey {
    case version = "v"
    case types = "t"
    case unknown = "x"
    // Not "r": earlier versions stored any refusal under that key.
    case hasRoutes = "q"
    case absences = "a"
    case problems = "p"
  }

  init() {}

  var listsNothing: Bool { !types.isEmpty && types.values.allSatisfy { $0.walk == nil && $0.rows == 0 } }

  static func type(named name: String) -> SampleType? { HealthSyncRequest.AppType(name)?.type }
}
