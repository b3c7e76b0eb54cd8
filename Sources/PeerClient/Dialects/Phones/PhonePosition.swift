import Foundation
import HealthModel

/// How far one phone's record has been read: kept with what came, in one transaction.
protocol PhonePosition: Codable, Equatable {
  associatedtype TypeState: PhoneTypeState

  /// Of its text; 1 in all that are there.
  var version: Int { get }
  /// By the app's names.
  var types: [String: TypeState] { get set }
  /// Names of what the phone has and is not asked for.
  var unknown: [String] { get set }
  /// Whether it listed nothing the last time.
  var listsNothing: Bool { get }
  /// What may have been deleted there.
  var absences: Absences? { get set }
  /// Why a type could not be read the last time, by the app's names; `nil` where all could.
  var problems: [String: String]? { get set }

  init()

  /// The type that the app calls so; `nil` for one that is not asked for.
  static func type(named name: String) -> SampleType?
}

/// How far one type of a phone's record has been read.
protocol PhoneTypeState: Codable, Equatable {
  /// Nothing has been read.
  init()

  /// Samples that the phone had at the last look; `nil` before everything was read once.
  var samples: Int? { get }
  /// The second in which the oldest of them starts.
  var oldest: Int64? { get }
  /// When everything was read last, in seconds since 1970.
  var swept: Int64? { get }
  /// Rows of that that could not be understood.
  var unreadable: Int { get }
  /// Whether the phone's count is another than ours for what is unknown: a deletion there, as a rule.
  var isDoubtful: Bool { get }
  /// Whether everything is being read, and not all of it has been.
  var isUnderWay: Bool { get }
}

extension PhonePosition {
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
    coverage.listsNothing = listsNothing
    for (name, state) in types.sorted(by: { $0.key < $1.key }) {
      guard let type = Self.type(named: name) else { continue }
      coverage.entries.append(
        PullCoverage.Entry(
          type: type, samples: state.samples, since: state.oldest.map { Timestamp(seconds: $0) },
          swept: state.swept.map { Timestamp(seconds: $0) },
          isComplete: state.swept != nil && !state.isUnderWay && !state.isDoubtful && problems?[name] == nil,
          unreadable: state.unreadable, problem: problems?[name]))
    }
    return coverage
  }
}
