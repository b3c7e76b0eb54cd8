import Foundation
import HealthModel

/// How far one phone's record has been read: kept with what came, in one transaction.
struct HealthSyncPosition: Codable, Equatable {
  /// One type.
  struct TypeState: Codable, Equatable {
    /// Newest first, without gaps: the first begins at ``Window/from`` and has no end.
    var windows: [Window] = []
    /// Where a walk through all time goes on; `nil` where none is under way.
    var walk: Walk?
    /// When the last such walk ended, in seconds since 1970.
    var swept: Int64?
    /// When what is older than the newest window was counted last.
    var counted: Int64?
    var oldest: Int64?
    var unreadable = 0
    /// Whether the phone has fewer than it had: a deletion there, as a rule.
    var isDoubtful = false

    enum CodingKeys: String, CodingKey {
      case windows = "w"
      case walk = "k"
      case swept = "s"
      case counted = "c"
      case oldest = "o"
      case unreadable = "u"
      case isDoubtful = "d"
    }

    var rows: Int { windows.reduce(0) { $0 + $1.rows } }
  }

  /// A stretch of time in which a number of samples start.
  struct Window: Equatable {
    /// Its first second; it ends where the one before it, which is newer, begins.
    var from: Int64
    var rows: Int
  }

  /// A walk backwards through all time.
  struct Walk: Codable, Equatable {
    /// The second before which it goes on.
    var end: Int64
    /// What it has found so far.
    var windows: [Window] = []
    var unreadable = 0

    enum CodingKeys: String, CodingKey {
      case end = "e"
      case windows = "w"
      case unreadable = "u"
    }
  }

  private var version = 1
  /// By the app's names.
  var types: [String: TypeState] = [:]
  /// What the phone offers and is not asked for.
  var unknown: [String] = []
  /// Whether this version of the app has routes of workouts; `nil` before it was asked.
  var hasRoutes: Bool?
  /// What may have been deleted there.
  var absences: Absences?

  enum CodingKeys: String, CodingKey {
    case version = "v"
    case types = "t"
    case unknown = "x"
    case hasRoutes = "r"
    case absences = "a"
  }

  init() {}

  /// `nil` for what another version wrote, or nobody.
  init?(_ text: String) {
    guard let position = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)), position.version == 1 else {
      return nil
    }
    self = position
  }

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    // Numbers and texts only: nothing in it that cannot be encoded.
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  var coverage: PullCoverage {
    var coverage = PullCoverage(entries: [])
    coverage.unknown = unknown
    coverage.listsNothing = !types.isEmpty && types.values.allSatisfy { $0.walk == nil && $0.rows == 0 }
    for (name, state) in types.sorted(by: { $0.key < $1.key }) {
      guard let type = HealthSyncRequest.AppType(name) else { continue }
      coverage.entries.append(
        PullCoverage.Entry(
          type: type.type, samples: state.swept == nil ? nil : state.rows,
          since: state.oldest.map { Timestamp(seconds: $0) }, swept: state.swept.map { Timestamp(seconds: $0) },
          isComplete: state.swept != nil && state.walk == nil && !state.isDoubtful, unreadable: state.unreadable))
    }
    return coverage
  }
}

/// Two numbers: there may be hundreds.
extension HealthSyncPosition.Window: Codable {
  init(from decoder: any Decoder) throws {
    var numbers = try decoder.unkeyedContainer()
    from = try numbers.decode(Int64.self)
    rows = try numbers.decode(Int.self)
  }

  func encode(to encoder: any Encoder) throws {
    var numbers = encoder.unkeyedContainer()
    try numbers.encode(from)
    try numbers.encode(rows)
  }
}
